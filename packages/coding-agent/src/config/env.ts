import type { SettingKey } from "./settings-schema.ts";

/** The environment variables that mean something here. Those of providers (keys, addresses) stand in their rows. */

export interface VariableRow {
  /** The setting it beats the files for. */
  setting?: SettingKey;
  systems: readonly ("tiller" | "pi" | "omp" | "xcsh" | "vendor")[];
  status: "works" | "accepted" | "later";
  summary: string;
}

export const VARIABLES: Readonly<Record<string, VariableRow>> = {
  PI_CODING_AGENT_DIR: {
    systems: ["pi", "omp", "xcsh"],
    status: "works",
    summary: "The agent folder: settings.json, models.json, auth.json and sessions/ are there. Beats TILLER_DIR.",
  },
  TILLER_DIR: { systems: ["tiller"], status: "works", summary: "The agent folder; `~/.tiller/agent` without it." },
  PI_CODING_AGENT_SESSION_DIR: {
    setting: "sessionDir",
    systems: ["pi"],
    status: "works",
    summary: "Folder for session files.",
  },
  PI_RPC_EMIT_TITLE: {
    setting: "rpc.emitTitle",
    systems: ["omp", "xcsh"],
    status: "works",
    summary: "`1`, `true`, `yes` or `on`: send setTitle requests.",
  },
  PI_NO_TITLE: { systems: ["omp", "xcsh"], status: "accepted", summary: "Make up no title; none is ever made up." },
  PI_OFFLINE: { systems: ["pi"], status: "works", summary: "`1`: no server is asked for its models." },
  HTTPS_PROXY: {
    systems: ["vendor"],
    status: "works",
    summary: "Proxy for `https:` requests, as `http://[user:password@]host:port`; in small letters too.",
  },
  HTTP_PROXY: { systems: ["vendor"], status: "works", summary: "The same for `http:` requests." },
  ALL_PROXY: { systems: ["vendor"], status: "works", summary: "Proxy where no other variable names one." },
  NO_PROXY: {
    systems: ["vendor"],
    status: "works",
    summary: "Hosts that are asked directly, comma-separated. This machine always is.",
  },
  TILLER_CA_FILE: {
    systems: ["tiller"],
    status: "works",
    summary: "A file of certificates (PEM) to trust beside the usual ones.",
  },
  SSL_CERT_FILE: { systems: ["vendor"], status: "works", summary: "The same, under the name that OpenSSL knows." },
  PI_SKIP_VERSION_CHECK: {
    systems: ["pi"],
    status: "accepted",
    summary: "No look for a newer version; there is none.",
  },
  PI_TELEMETRY: { systems: ["pi"], status: "accepted", summary: "Telemetry; there is none." },
  PI_NO_PTY: { systems: ["omp", "xcsh"], status: "accepted", summary: "No pseudo terminal; none is used." },
  PI_CACHE_RETENTION: {
    setting: "cacheRetention",
    systems: ["pi"],
    status: "works",
    summary: "`long`: ask providers to keep caches longer.",
  },
  PI_PACKAGE_DIR: { systems: ["pi"], status: "accepted", summary: "Where pi's own files lie; none are needed here." },
  PI_SHARE_VIEWER_URL: { systems: ["pi"], status: "accepted", summary: "Who shows shared sessions; none are shared." },
  PI_AI_ANTIGRAVITY_VERSION: {
    systems: ["pi"],
    status: "accepted",
    summary: "Version told to a service that no provider here speaks to.",
  },
  PI_TIMING: {
    systems: ["pi"],
    status: "accepted",
    summary: "Tell how long the start takes; a headless one says nothing.",
  },
  PI_HARDWARE_CURSOR: { systems: ["pi"], status: "accepted", summary: "The cursor of a terminal; there is none." },
  PI_SESSION_ID: {
    systems: ["pi"],
    status: "works",
    summary: "Not read: the commands of the tool `bash` and of the host find the id of the session there.",
  },
  PI_CONFIG_DIR: {
    systems: ["omp", "xcsh"],
    status: "later",
    summary: "Another folder of configuration; PI_CODING_AGENT_DIR names it here.",
  },
  PI_SMOL_MODEL: { systems: ["omp", "xcsh"], status: "later", summary: "Model for small jobs." },
  PI_SLOW_MODEL: { systems: ["omp", "xcsh"], status: "later", summary: "Model for hard jobs." },
  PI_PLAN_MODEL: { systems: ["omp", "xcsh"], status: "later", summary: "Model for planning." },
};
