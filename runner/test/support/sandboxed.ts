import { spawnSync } from 'node:child_process'
import { test } from 'vitest'

const why =
  spawnSync('bwrap', ['--version']).status === 0 && spawnSync('socat', ['-V']).status === 0
    ? null
    : 'bubblewrap and socat are not installed'
if (why !== null && process.env.REQUIRE_ALL === '1') throw new Error(why)

/** Tests that need the sandbox: skipped with a word where the machine has none, failed where everything is required. */
export const sandboxed = why === null ? test : test.skip
if (why !== null) process.stderr.write(`skipped: ${why}\n`)
