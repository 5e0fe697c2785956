/**
 * The style and the program of the page, each as one text, with the hashes its policy names them by. The bundler fills
 * them in (scripts/page-plugin.mjs) from export/page; what stands here is for the type checker alone.
 */

export const PAGE_CSS: string = "";
export const PAGE_CSS_HASH: string = "";
export const PAGE_JS: string = "";
export const PAGE_JS_HASH: string = "";
