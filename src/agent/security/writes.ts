import type { Bench } from './bench.ts'
import { isGitInternal, isOutside, isRunByItself, isSecretFile, isStartupFile, isToldLater } from './paths.ts'

const DISK = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|disk|loop|dm-|md|mem|kmem|port)/

/** A file that is written, whatever with. */
export function judgeWrite(path: string, bench: Bench): void {
  for (const place of bench.findings.folders.placesOf(path)) judgePlace(place, bench)
}

function judgePlace(path: string, bench: Bench): void {
  if (isGitInternal(path)) bench.meet('git-internals')
  if (isRunByItself(path)) bench.meet('runs-by-itself')
  else if (isToldLater(path)) bench.meet('told-later')
  if (isSecretFile(path)) bench.meet('secret-file')
  if (DISK.test(path)) bench.meet('destroys-device')
  else if (isStartupFile(path)) bench.meet('startup-file')
  else if (isOutside(path)) bench.meet('outside-file')
}
