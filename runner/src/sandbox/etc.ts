// The few files of /etc that the sandbox has its own of.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOME_INSIDE } from './bwrap.ts'

export function writeEtc(run: string, gitconfig: string): void {
  const files = {
    passwd: `root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:1000:1000:agent:${HOME_INSIDE}:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
    group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
    gitconfig,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(run, name), text, { mode: 0o644 })
}
