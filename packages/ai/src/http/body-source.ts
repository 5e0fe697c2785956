/** Where the bytes of a body come from. */
export interface BodySource {
  /** There is one listener, and it is there from the beginning. */
  listen(listener: BodyListener): void;
  pause(): void;
  resume(): void;
  /** Closes the connection, unless everything has come already; the listener hears nothing more. */
  destroy(): void;
}

export interface BodyListener {
  piece(bytes: Buffer): void;
  end(): void;
  lost(cause?: Error): void;
}
