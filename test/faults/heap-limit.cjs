// Loaded into the program before anything else: it notes in TILLER_TEST_HEAP, behind the number of its process, how large its
// heap may become.
const { writeFileSync } = require("node:fs");
const { getHeapStatistics } = require("node:v8");

writeFileSync(`${process.env.TILLER_TEST_HEAP}-${process.pid}`, String(getHeapStatistics().heap_size_limit));
