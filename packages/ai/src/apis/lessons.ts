import type { Model } from "@tiller/protocol/model";
import type { ModelRequest } from "../provider.ts";

/** What a refusal taught about a model, kept while the process lives, so that the same refusal is met only once. */
export interface Lesson {
  /** What the model is like, other than it was thought to be. */
  compat?: Readonly<Record<string, unknown>>;
  thinkingLevelMap?: Model["thinkingLevelMap"];
  /** For every model of this server, for this model, or for this conversation with it. */
  holdsFor: "server" | "model" | "conversation";
}

export interface Lessons {
  remember(lesson: Lesson, request: ModelRequest): void;
  /** The request with all that was learned about its model. */
  applied(request: ModelRequest): ModelRequest;
}

export function createLessons(): Lessons {
  const known = new Map<string, Lesson>();
  return {
    remember(lesson, request) {
      const key = keysOf(request)[lesson.holdsFor];
      if (key !== undefined) known.set(key, { ...lesson, ...taught(known.get(key) ?? {}, lesson) });
    },
    applied(request) {
      if (known.size === 0) return request;
      const lessons = Object.values(keysOf(request)).flatMap((key) => known.get(key ?? "") ?? []);
      return lessons.length === 0 ? request : { ...request, model: lessons.reduce(taught, request.model) };
    },
  };
}

/** A conversation without a name is not remembered. Keys of users are no part of this: they are not kept anywhere. */
function keysOf({ model, sessionId }: ModelRequest): Record<Lesson["holdsFor"], string | undefined> {
  const server = [model.provider, model.api, model.baseUrl].join(" ");
  const one = `${server} ${model.id}`;
  return { server, model: one, conversation: sessionId === undefined ? undefined : `${one} ${sessionId}` };
}

export function taught<T extends Pick<Model, "compat" | "thinkingLevelMap">>(model: T, lesson: Lesson): T {
  return {
    ...model,
    compat: { ...model.compat, ...lesson.compat },
    thinkingLevelMap: { ...model.thinkingLevelMap, ...lesson.thinkingLevelMap },
  };
}
