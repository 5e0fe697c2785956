/** Something that is made when it is first asked for, once. A failure is not kept: whoever asks next may try again. */
export interface Late<T> {
  load(): Promise<T>;
  /** Undefined until it is there. */
  readonly made: T | undefined;
}

export function late<T>(make: () => Promise<T>): Late<T> {
  let asked: Promise<T> | undefined;
  let made: T | undefined;
  return {
    load() {
      asked ??= make().then(
        (value) => {
          made = value;
          return value;
        },
        (error: unknown) => {
          asked = undefined;
          throw error;
        },
      );
      return asked;
    },
    get made() {
      return made;
    },
  };
}

/** The same, made anew when the key is another one. */
export function latePer<T>(key: () => string, make: (key: string) => Promise<T>): () => Promise<T> {
  let known: { key: string; value: Late<T> } | undefined;
  return () => {
    const now = key();
    if (known?.key !== now) known = { key: now, value: late(() => make(now)) };
    return known.value.load();
  };
}
