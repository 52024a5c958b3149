// `git diff --check`: whitespace errors in added lines.

import { linesOf } from '../../workspace/diff.ts'
import { isBinary, textOf, utf8 } from './bytes.ts'
import { gitEdits } from './diffing/line-edits.ts'
import { whitespaceError } from './patching/whitespace-errors.ts'
import { contentsOf, type PairedChange } from './renames.ts'
import type { Repository } from './repository.ts'

const CONFLICT_MARKER = /^(<{7}|\|{7}|={7}|>{7})(\s|$)/

/** One or two lines for each error. */
export async function slipsIn(repo: Repository, { path, from = path, before, after }: PairedChange): Promise<string> {
  if (!after || before?.oid === after.oid) return ''
  const old = (before ? await contentsOf(repo, from, before.oid) : null) ?? utf8('')
  const now = (await contentsOf(repo, path, after.oid)) ?? utf8('')
  if (isBinary(old) || isBinary(now)) return ''
  const [oldLines, lines] = [linesOf(textOf(old)), linesOf(textOf(now))]
  let text = ''
  for (const edit of gitEdits(oldLines, lines, {})) {
    for (let at = edit.from; at < edit.to; at++) {
      const line = (lines[at] ?? '').replace(/\n$/, '')
      const slip = whitespaceError(line)
      if (CONFLICT_MARKER.test(line)) text += `${path}:${at + 1}: leftover conflict marker\n`
      if (slip !== null) text += `${path}:${at + 1}: ${slip}.\n+${line}\n`
    }
  }
  const blank = blankTail(lines)
  return blank > blankTail(oldLines) ? `${text}${path}:${lines.length - blank + 1}: new blank line at EOF.\n` : text
}

function blankTail(lines: readonly string[]): number {
  return lines.length - 1 - lines.findLastIndex((line) => line.trim() !== '')
}
