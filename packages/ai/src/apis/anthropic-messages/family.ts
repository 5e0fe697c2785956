import type { ApiFamily } from "../api.ts";
import { learnFrom } from "./refusals.ts";
import { buildRequest } from "./request.ts";
import { finish, initial, type StreamState, step } from "./stream.ts";

export const anthropicMessages: ApiFamily<StreamState> = { buildRequest, learnFrom, initial, step, finish };
