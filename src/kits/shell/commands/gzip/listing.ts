// `gzip -l`: the compression ratio of each file.

import { UnpackError } from '../file-walk.ts'
import { isGzip, sizesOf } from './format.ts'

/** The size of an empty file. */
const LEAST_BYTES = 18
const HEAD = '         compressed        uncompressed  ratio uncompressed_name\n'

/** Computed like in gzip: without header and trailer, rounded to a tenth of a per cent. */
export function ratioText(small: number, large: number, overhead = 0): string {
  if (large === 0) return '  0.0%'
  return `${((100 * (large - (small - overhead))) / large).toFixed(1).padStart(5)}%`
}

export class SizeTable {
  readonly #isQuiet: boolean
  readonly #isVerbose: boolean
  #rows: string[] = []
  #packed = 0
  #plain = 0
  #overhead = 0

  constructor(isVerbose: boolean, isQuiet: boolean) {
    this.#isVerbose = isVerbose
    this.#isQuiet = isQuiet
  }

  add(name: string, bytes: Uint8Array): void {
    if (this.#isVerbose) throw new UnpackError('a listing with -v is not available here')
    if (bytes.byteLength > 0 && !isGzip(bytes)) throw new UnpackError('not in gzip format')
    if (bytes.byteLength < LEAST_BYTES) throw new UnpackError('unexpected end of file')
    const { overhead, plainBytes } = sizesOf(bytes)
    this.#rows.push(rowOf(bytes.byteLength, plainBytes, overhead, name))
    this.#packed += bytes.byteLength
    this.#plain += plainBytes
    this.#overhead += overhead
  }

  end(): string {
    if (this.#rows.length === 0) return ''
    const total = this.#rows.length > 1 ? rowOf(this.#packed, this.#plain, this.#overhead, '(totals)') : ''
    return (this.#isQuiet ? '' : HEAD) + this.#rows.join('') + total
  }
}

function rowOf(packed: number, plain: number, overhead: number, name: string): string {
  return `${String(packed).padStart(19)} ${String(plain).padStart(19)} ${ratioText(packed, plain, overhead)} ${name}\n`
}
