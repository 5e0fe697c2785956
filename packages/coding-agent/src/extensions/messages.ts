/** What an extension is told when it asks for something at the wrong time. */

export const NOT_YET =
  "Extension runtime not initialized. Action methods cannot be called during extension loading. Call them in a handler, for instance of session_start.";

export const STALE =
  "This extension ctx is stale after session replacement or reload: the extension was loaded anew, and this object belongs to the one before. Use the pi and ctx of the new one; after ctx.newSession(), ctx.fork() or ctx.switchSession() that is the ctx which withSession gets.";
