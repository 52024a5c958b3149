import type { Bench } from '../bench.ts'
import type { Call } from '../call.ts'

/** Knows what a command runs, writes or sets besides what its rules say. */
export type Opener = (call: Call, bench: Bench) => void
