// The supported options of `curl`. Options without an effect in this shell are accepted and ignored.

import type { OptionSpec } from '../options.ts'

const FLAGS: Record<string, string> = {}
for (const [name, ...words] of [
  ['silent', '-s', '--silent', '--no-progress-meter'],
  ['show-error', '-S', '--show-error'],
  ['fail', '-f', '--fail'],
  ['fail-with-body', '--fail-with-body'],
  ['fail-early', '--fail-early'],
  ['location', '-L', '--location'],
  ['include', '-i', '--include'],
  ['head', '-I', '--head'],
  ['remote-name', '-O', '--remote-name', '--remote-name-all'],
  ['remote-header-name', '-J', '--remote-header-name'],
  ['get', '-G', '--get'],
  ['verbose', '-v', '--verbose'],
  ['create-dirs', '--create-dirs'],
  ['insecure', '-k', '--insecure'],
  ['globoff', '-g', '--globoff'],
  ['retry-all-errors', '--retry-all-errors'],
  ['retry-connrefused', '--retry-connrefused'],
  ['ignored', '--compressed', '-N', '--no-buffer', '-#', '--progress-bar', '-q', '--disable', '-4', '--ipv4'],
  ['ignored', '-6', '--ipv6', '--http1.1', '--http2', '--tcp-nodelay', '--no-keepalive'],
])
  for (const word of words) FLAGS[word] = name ?? ''

const VALUES: Record<string, string> = {}
for (const [name, ...words] of [
  ['request', '-X', '--request'],
  ['header', '-H', '--header'],
  ['output', '-o', '--output'],
  ['output-dir', '--output-dir'],
  ['dump-header', '-D', '--dump-header'],
  ['data', '-d', '--data', '--data-ascii'],
  ['data-raw', '--data-raw'],
  ['data-binary', '--data-binary'],
  ['data-urlencode', '--data-urlencode'],
  ['json', '--json'],
  ['form', '-F', '--form'],
  ['form-string', '--form-string'],
  ['user', '-u', '--user'],
  ['bearer', '--oauth2-bearer'],
  ['user-agent', '-A', '--user-agent'],
  ['referer', '-e', '--referer'],
  ['range', '-r', '--range'],
  ['max-time', '-m', '--max-time'],
  ['connect-timeout', '--connect-timeout'],
  ['write-out', '-w', '--write-out'],
  ['cookie', '-b', '--cookie'],
  ['cookie-jar', '-c', '--cookie-jar'],
  ['retry', '--retry'],
  ['retry-delay', '--retry-delay'],
  ['retry-max-time', '--retry-max-time'],
  ['url', '--url'],
  ['upload-file', '-T', '--upload-file'],
])
  for (const word of words) VALUES[word] = name ?? ''

export const SPEC: OptionSpec = { flags: FLAGS, values: VALUES }

/** The options with data, in the given order, as `[kind, value]`. */
export function dataInOrder(args: readonly string[], values: ReadonlyMap<string, string[]>): [string, string][] {
  const left = new Map(DATA_KINDS.map((kind) => [kind, [...(values.get(kind) ?? [])]]))
  const found: [string, string][] = []
  for (const arg of args) {
    const name = arg.startsWith('--') ? arg.split('=', 1)[0] : /^-[a-zA-Z]*?d/.test(arg) ? '-d' : ''
    const kind = VALUES[name ?? '']
    const value = kind === undefined ? undefined : left.get(kind)?.[0]
    if (kind === undefined || value === undefined) continue
    if (arg !== name && !arg.endsWith(value) && !/^-[a-zA-Z]*d$/.test(arg)) continue
    left.get(kind)?.shift()
    found.push([kind, value])
  }
  for (const [kind, rest] of left) for (const value of rest) found.push([kind, value])
  return found
}

const DATA_KINDS = ['data', 'data-raw', 'data-binary', 'data-urlencode', 'json']
