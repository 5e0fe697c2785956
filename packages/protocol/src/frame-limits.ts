/** How long frames may be. Clients compare these numbers with their own before they negotiate chunks. */

/** Longer frames are sent in chunks, once the host has negotiated that. */
export const MAX_FRAME_BYTES = 1024 * 1024;
/** What can be put together of chunks. */
export const MAX_REASSEMBLED_FRAME_BYTES = 64 * 1024 * 1024;
export const PROTOCOL_VERSIONS: readonly number[] = [1, 2];
