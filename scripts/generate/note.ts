export const GENERATED_NOTE = "Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.";
