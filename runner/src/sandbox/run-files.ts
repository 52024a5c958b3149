// The runner's files in the sandbox: its own versions of a few files of /etc, and the helper that requests credentials.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HELPER_FILE, HELPER_SOURCE } from '../notebook/helper.ts'
import { HOME_INSIDE, RUN_INSIDE } from './bwrap.ts'
import type { LaunchPlan } from './launch.ts'
import { syscallFilter } from './syscalls.ts'

/** Limits git's packs to less than the usual limit of a workspace file (`MAX_FILE_BYTES`): several packs instead of one. */
const PACK_BYTES = 20 * 1024 * 1024

/** Git writes the request to the standard input and reads the answer; only the operation `get` has one. */
const helperSource = (run: string) => `#!/bin/sh
[ "$1" = get ] || exit 0
exec socat -t 60 - UNIX-CONNECT:'${run}/credentials.sock'
`

export function writeRunFiles(run: string, plan: LaunchPlan): void {
  const inside = plan.isolation === 'none' ? run : RUN_INSIDE
  const files = {
    [HELPER_FILE]: HELPER_SOURCE,
    passwd: `root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:1000:1000:agent:${HOME_INSIDE}:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
    group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
    gitconfig: `[credential]\n\thelper = ${inside}/git-credential\n\tuseHttpPath = true\n[pack]\n\tpackSizeLimit = ${PACK_BYTES}\n`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(run, name), text, { mode: 0o644 })
  const filter = plan.isolation === 'none' ? null : syscallFilter(process.arch)
  if (filter !== null) writeFileSync(join(run, 'seccomp'), filter, { mode: 0o644 })
  writeFileSync(join(run, 'git-credential'), helperSource(inside), { mode: 0o755 })
}
