// The text commands, each loaded on first use.

import type { defineCommand } from 'just-bash/browser'
import type { Pacer } from '../../shell-pacer.ts'
import { withStandardStreams } from '../../standard-streams.ts'
import { versionText } from '../versions.ts'
import { runTextCommand, TextCall, type TextCommand } from './call.ts'

type Load = () => Promise<TextCommand>

const base: Load = async () => (await import('./base-encoding.ts')).baseEncoding
const checksum: Load = async () => (await import('./checksum/checksum.ts')).checksum
const hexdump: Load = async () => (await import('./dump/hexdump.ts')).hexdump

export const TEXT_COMMANDS = {
  expr: async () => (await import('./pieces/expr.ts')).expr,
  numfmt: async () => (await import('./numbers/numfmt.ts')).numfmt,
  fmt: async () => (await import('./fmt.ts')).fmt,
  column: async () => (await import('./column/column.ts')).column,
  split: async () => (await import('./pieces/split.ts')).split,
  csplit: async () => (await import('./pieces/csplit.ts')).csplit,
  bc: async () => (await import('./bc/bc.ts')).bc,
  base32: base,
  base64: base,
  basenc: base,
  b2sum: checksum,
  cksum: checksum,
  sum: checksum,
  md5sum: checksum,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  seq: async () => (await import('./numbers/seq.ts')).seq,
  factor: async () => (await import('./numbers/factor.ts')).factor,
  tsort: async () => (await import('./pieces/tsort.ts')).tsort,
  tee: async () => (await import('./pieces/tee.ts')).tee,
  envsubst: async () => (await import('./pieces/envsubst.ts')).envsubst,
  look: async () => (await import('./pieces/look.ts')).look,
  shuf: async () => (await import('./pieces/shuf.ts')).shuf,
  cat: async () => (await import('./cat.ts')).cat,
  cmp: async () => (await import('./cmp.ts')).cmp,
  comm: async () => (await import('./comm.ts')).comm,
  cut: async () => (await import('./cut.ts')).cut,
  pr: async () => (await import('./pr/pr.ts')).pr,
  diff3: async () => (await import('./diff3/diff3.ts')).diff3,
  sdiff: async () => (await import('./diff/sdiff.ts')).sdiff,
  dos2unix: async () => (await import('./line-ends.ts')).lineEnds,
  unix2dos: async () => (await import('./line-ends.ts')).lineEnds,
  diff: async () => (await import('./diff/diff.ts')).diff,
  expand: async () => (await import('./tabs.ts')).expand,
  fold: async () => (await import('./fold.ts')).fold,
  head: async () => (await import('./head-tail.ts')).head,
  iconv: async () => (await import('./iconv/iconv.ts')).iconv,
  join: async () => (await import('./join.ts')).join,
  less: async () => (await import('./cat.ts')).pager,
  more: async () => (await import('./cat.ts')).pager,
  nl: async () => (await import('./nl.ts')).nl,
  hd: hexdump,
  hexdump,
  od: async () => (await import('./dump/od.ts')).od,
  xxd: async () => (await import('./dump/xxd.ts')).xxd,
  paste: async () => (await import('./paste.ts')).paste,
  rev: async () => (await import('./reversing.ts')).rev,
  sort: async () => (await import('./sort/sort.ts')).sort,
  tac: async () => (await import('./reversing.ts')).tac,
  tail: async () => (await import('./head-tail.ts')).tail,
  tr: async () => (await import('./tr/tr.ts')).tr,
  unexpand: async () => (await import('./tabs.ts')).unexpand,
  uniq: async () => (await import('./uniq.ts')).uniq,
  wc: async () => (await import('./wc.ts')).wc,
} satisfies Readonly<Record<string, Load>>

/** The shell treats it as the exit code of a stopped command. */
const EXIT_STOPPED = 124

interface TextDeps {
  /** Whether the standard input of the called command is a file. */
  readsFile: () => boolean
  pacer: Pacer
  signal: AbortSignal
}

/** In the form that the interpreter requires. */
export function textCommands(define: typeof defineCommand, { pacer, signal, readsFile }: TextDeps) {
  const pause = () => {
    signal.throwIfAborted()
    return pacer.pauseIfDue()
  }
  return Object.entries(TEXT_COMMANDS).map(([name, load]) =>
    define(
      name,
      withStandardStreams(name, async (args, context) => {
        const version = versionText(name, args)
        if (version !== null) return { stdout: version, stderr: '', exitCode: 0 }
        try {
          return await runTextCommand(
            await load(),
            new TextCall(name, { args, context, pause, readsFile: readsFile() }),
          )
        } catch (error) {
          if (!signal.aborted) throw error
          return { stdout: '', stderr: '', exitCode: EXIT_STOPPED }
        }
      }),
    ),
  )
}
