import type { Result } from '../shell-commands.ts'
import { bytesToText } from '../text-encodings.ts'

/** What a command wrote, one character a byte. */
export function inBytes({ stdout, stdoutKind, stdoutEncoding }: Result): string {
  if (stdoutKind === 'bytes' || stdoutEncoding === 'binary') return stdout
  return bytesToText(new TextEncoder().encode(stdout), 'latin1')
}
