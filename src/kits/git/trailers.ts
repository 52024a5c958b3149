// The last paragraph of a message, if it consists of lines such as `Signed-off-by: …`.

import type { Invocation } from './invocation.ts'

const ORIGIN = '(cherry picked from commit '

export async function signOffLine(git: Invocation): Promise<string> {
  const { name, email } = await git.signature('committer')
  return `Signed-off-by: ${name} <${email}>`
}

export function originLine(oid: string): string {
  return `${ORIGIN}${oid})`
}

/** Adds the line to the trailers of the message, or as the first one. */
export function withTrailer(message: string, line: string): string {
  const text = message.replace(/\n*$/, '\n')
  const paragraphs = text.trimEnd().split(/\n[ \t]*\n/)
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? '').split('\n') : []
  if (last.at(-1) === line) return text
  const isFooter = last.length > 0 && last.every((each) => /^[\w-]+: /.test(each) || each.startsWith(ORIGIN))
  return `${text}${isFooter ? '' : '\n'}${line}\n`
}
