import type { Bench } from './bench.ts'
import { isGitInternal, isOutside, isSecretFile, isStartupFile } from './paths.ts'

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|loop|dm-|md|mem|kmem|port)/

/** A file that is written, whatever with. */
export function judgeWrite(path: string, bench: Bench): void {
  const isInGit = bench.findings.isInGit && !path.startsWith('/')
  if (isInGit || isGitInternal(path)) bench.meet('git-internals')
  if (isSecretFile(path)) bench.meet('secret-file')
  if (DISK.test(path)) bench.meet('destroys-device')
  else if (isStartupFile(path)) bench.meet('startup-file')
  else if (isOutside(path)) bench.meet('outside-file')
}
