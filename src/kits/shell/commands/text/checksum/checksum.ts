// `md5sum`, `sha256sum` and similar, `b2sum`, `cksum` and `sum`.

import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { checkSums } from './checking.ts'
import { blakeDigest, bsdSum, crc, DIGESTS, type Digest, sysvSum } from './sums.ts'

const DIGEST_OPTIONS = `binary=b check=c ignore-missing quiet status strict tag text=t warn=w zero=z`
const OPTIONS = optionTable(DIGEST_OPTIONS)
const BLAKE_OPTIONS = optionTable(`${DIGEST_OPTIONS} length=l:`)
const CKSUM_OPTIONS = optionTable(`${DIGEST_OPTIONS} algorithm=a: length=l: untagged`)
const SUM_OPTIONS = optionTable('r sysv=s')
const BLAKE_BITS = 512

export async function checksum(call: TextCall): Promise<void> {
  if (call.name === 'sum') return sum(call)
  if (call.name === 'cksum') return cksum(call)
  const isBlake = call.name === 'b2sum'
  const given = readOptions(call.args, isBlake ? BLAKE_OPTIONS : OPTIONS)
  const digest = isBlake ? blakeDigest(blakeBits(given)) : DIGESTS[call.name.replace(/sum$/, '')]
  if (!digest) throw new Error(`there is no digest of the name ${call.name}`)
  await digestAll(call, given, { digest, isTagged: given.has('tag') })
}

type ChecksumMode = { digest: Digest; isTagged: boolean }

async function digestAll(call: TextCall, given: GivenOptions, { digest, isTagged }: ChecksumMode): Promise<void> {
  const names = given.operands.length > 0 ? given.operands : ['-']
  if (given.has('c')) {
    if (given.has('tag')) throw new Misuse('the --tag option is meaningless when verifying checksums')
    if (given.has('z')) throw new Misuse('the --zero option is not supported when verifying checksums')
    if (given.lastOf('bt') !== undefined) {
      throw new Misuse('the --binary and --text options are meaningless when verifying checksums')
    }
    return checkSums(call, { names, given, digest })
  }
  refuseOnlyChecking(given)
  const mark = given.lastOf('bt') === 'b' ? '*' : ' '
  const end = given.has('z') ? '\0' : '\n'
  for (const name of names) {
    const bytes = await call.input(name)
    if (bytes === null) continue
    const sum = digest.of(bytes)
    const isEscaped = end === '\n' && /[\\\n\r]/.test(name)
    const shown = isEscaped ? name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r') : name
    const line = isTagged ? `${digest.tag} (${shown}) = ${sum}` : `${sum} ${mark}${shown}`
    call.write(bytesOf(`${isEscaped ? '\\' : ''}${line}${end}`))
    await call.pause()
  }
}

function refuseOnlyChecking(given: GivenOptions): void {
  const found = ['ignore-missing', 'status', 'warn', 'quiet', 'strict'].find((name) =>
    given.has(name === 'warn' ? 'w' : name),
  )
  if (found !== undefined) throw new Misuse(`the --${found} option is meaningful only when verifying checksums`)
}

function blakeBits(given: GivenOptions): number {
  const text = given.value('l') ?? '0'
  if (!/^\d+$/.test(text)) throw refusal(`invalid length: ${curly(text)}`)
  const bits = Number(text)
  if (bits % 8 !== 0) throw refusal(`invalid length: ${curly(text)}\n${'b2sum'}: length is not a multiple of 8`)
  if (bits > BLAKE_BITS) {
    throw refusal(
      `invalid length: ${curly(text)}\nb2sum: maximum digest length for ${curly('BLAKE2b')} is ${BLAKE_BITS} bits`,
    )
  }
  return bits || BLAKE_BITS
}

async function cksum(call: TextCall): Promise<void> {
  const given = readOptions(call.args, CKSUM_OPTIONS)
  const algorithm = given.value('a') ?? 'crc'
  if (given.has('l') && algorithm !== 'blake2b')
    throw new Misuse('--length is only supported with --algorithm=blake2b', { showsHint: false })
  const digest = algorithm === 'blake2b' ? blakeDigest(blakeBits(given)) : DIGESTS[algorithm]
  if (digest) return digestAll(call, given, { digest, isTagged: !given.has('untagged') })
  if (!given.has('c')) refuseOnlyChecking(given)
  const meaningless = ['b', 't', 'z', 'l'].find((name) => given.has(name))
  if (meaningless !== undefined) throw new Misuse(`-${meaningless} is not available here with --algorithm=${algorithm}`)
  if (given.has('c')) {
    throw given.has('a')
      ? refusal('--check is not supported with --algorithm={bsd,sysv,crc}')
      : refusal('--check without --algorithm is not available here')
  }
  const sums: Readonly<Record<string, (bytes: string) => string>> = { crc: posix, bsd, sysv }
  const shown = sums[algorithm]
  if (!shown) throw new Misuse(`invalid argument ${curly(algorithm)} for ${curly('--algorithm')}`)
  await sumAll(call, given.operands, shown)
}

async function sum(call: TextCall): Promise<void> {
  const given = readOptions(call.args, SUM_OPTIONS)
  await sumAll(call, given.operands, given.lastOf('rs') === 's' ? sysv : bsd)
}

const posix = (bytes: string) => `${crc(bytes)} ${bytes.length}`
const bsd = (bytes: string) =>
  `${String(bsdSum(bytes)).padStart(5, '0')} ${String(Math.ceil(bytes.length / 1024)).padStart(5)}`
const sysv = (bytes: string) => `${sysvSum(bytes)} ${Math.ceil(bytes.length / 512)}`

async function sumAll(call: TextCall, operands: readonly string[], shown: (bytes: string) => string): Promise<void> {
  for (const name of operands.length > 0 ? operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes === null) continue
    call.writeText(`${shown(bytes)}${operands.length > 0 ? ` ${name}` : ''}\n`)
    await call.pause()
  }
}
