import { type Static, Type } from "typebox";

/** A plan: phases of tasks, kept with the session and told to the model. */

export const TodoStatus = Type.Union([
  Type.Literal("pending"),
  Type.Literal("in_progress"),
  Type.Literal("completed"),
  Type.Literal("abandoned"),
]);
export type TodoStatus = Static<typeof TodoStatus>;

export const TodoItem = Type.Object({
  id: Type.String(),
  content: Type.String(),
  status: TodoStatus,
  notes: Type.Optional(Type.String()),
});
export type TodoItem = Static<typeof TodoItem>;

export const TodoPhase = Type.Object({ id: Type.String(), name: Type.String(), tasks: Type.Array(TodoItem) });
export type TodoPhase = Static<typeof TodoPhase>;

/** What a host may send: ids that are left out are given, a status that is left out is `pending`. */
export const TodoItemInput = Type.Object({
  id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  content: Type.String(),
  status: Type.Optional(Type.Union([...TodoStatus.anyOf, Type.Null()])),
  notes: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

export const TodoPhaseInput = Type.Object({
  id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  name: Type.String(),
  tasks: Type.Array(TodoItemInput),
});
export type TodoPhaseInput = Static<typeof TodoPhaseInput>;
