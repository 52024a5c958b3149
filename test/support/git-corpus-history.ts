// The history of one repository of the corpus, as input of `git fast-import`: files that are added, changed, moved and deleted,
// branches that are merged, tags of both kinds.

import type { CorpusPlan } from './git-corpus-plans.ts'

const START = 1_600_000_000
const MAX_CHANGES = 4

export class HistoryWriter {
  readonly #plan: CorpusPlan
  readonly #waiting: [string, Uint8Array][]
  readonly #files = new Map<string, Uint8Array>()
  readonly #random: () => number
  readonly #out: Uint8Array[] = []
  #mark = 0

  constructor(plan: CorpusPlan, files: ReadonlyMap<string, Uint8Array>) {
    this.#plan = plan
    this.#waiting = [...files]
    this.#random = randomFrom(plan.name)
  }

  write(): Uint8Array[] {
    const { commits } = this.#plan
    let main = this.#commit('main', null, () => this.#arrive(Math.ceil(this.#waiting.length * 0.7)), 'first')
    this.#tag('v0.1', main, false)
    for (let i = 1; i < commits; i++) {
      if (i === Math.floor(commits / 2)) this.#tag('v1.0', main, true)
      if (i % 9 === 4) main = this.#merge(main, i)
      else
        main = this.#commit('main', main, () => this.#change(i), `change ${i}\n\nWhy: ${'because '.repeat(i % 20)}\n`)
    }
    const side = this.#commit('side', main, () => this.#change(0), 'beside')
    this.#tag('v2.0-rc.1', side, true)
    main = this.#commit('main', main, () => this.#finish(), 'odd and large: ünïcödé 日本 🎉')
    this.#tag('latest', main, false)
    this.#say('done\n')
    return this.#out
  }

  /** A branch of two commits, merged while the other side moved on. */
  #merge(main: number, i: number): number {
    const topic = this.#commit(
      `topic/${i}`,
      main,
      () => this.#put(`topics/${i}.txt`, text(`topic ${i}\n`)),
      `topic ${i}`,
    )
    const more = this.#commit(
      `topic/${i}`,
      topic,
      () => this.#put(`topics/${i}.txt`, text(`topic ${i}\nmore\n`)),
      'more',
    )
    const other = this.#commit('main', main, () => this.#put(`topics/${i}.txt`, null), `meanwhile ${i}`)
    const both = () => this.#put(`topics/${i}.txt`, text(`topic ${i}\nmore\n`))
    return this.#commit('main', other, both, `Merge branch 'topic/${i}'\n`, more)
  }

  #commit(branch: string, from: number | null, changes: () => void, message: string, other?: number): number {
    const mark = ++this.#mark
    const when = START + mark * 3607
    const who = mark % 3 === 0 ? `Zoë Ωmega <zoe@example.com> ${when} +0530` : `Robin <robin@example.com> ${when} -0800`
    this.#say(`commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n`)
    this.#bytes(text(message))
    if (from !== null) this.#say(`from :${from}\n`)
    if (other !== undefined) this.#say(`merge :${other}\n`)
    changes()
    this.#say('\n')
    return mark
  }

  #tag(name: string, mark: number, isAnnotated: boolean): void {
    if (!isAnnotated) {
      this.#say(`reset refs/tags/${name}\nfrom :${mark}\n\n`)
      return
    }
    this.#say(`tag ${name}\nfrom :${mark}\ntagger Robin <robin@example.com> ${START + mark} +0000\n`)
    this.#bytes(text(`${name}\n\nA release.\n`))
  }

  #arrive(count: number): void {
    for (const [path, bytes] of this.#waiting.splice(0, count)) this.#put(path, bytes, /^#!/.test(latin(bytes)))
  }

  #change(i: number): void {
    this.#arrive(Math.ceil(this.#waiting.length / 10))
    const paths = [...this.#files.keys()]
    for (let n = 0; n < MAX_CHANGES && paths.length > 0; n++) {
      const path = paths[Math.floor(this.#random() * paths.length)] ?? ''
      const bytes = this.#files.get(path)
      if (bytes) this.#put(path, edited(bytes, i, this.#random()))
    }
    const path = paths[Math.floor(this.#random() * paths.length)]
    if (path !== undefined && i % 5 === 2) this.#move(path, `moved/${i}/${path.split('/').at(-1)}`)
    if (path !== undefined && i % 7 === 3 && this.#files.has(path) && paths.length > 5) this.#put(path, null)
  }

  #finish(): void {
    const { odd, large } = this.#plan
    this.#arrive(this.#waiting.length)
    if (odd) this.#oddities()
    if (large.includes('texts')) {
      this.#put('large/60k.txt', text(numbers(12_000)))
      this.#put('large/1m.txt', text(numbers(160_000)))
    }
    if (large.includes('compressible')) this.#put('large/zeros.bin', new Uint8Array(5_000_000))
    if (large.includes('incompressible')) this.#put('large/noise.bin', this.#noise(3_000_000))
    if (large.includes('bytes8')) this.#put('large/8m.bin', this.#noise(8 * 1024 * 1024))
  }

  #oddities(): void {
    this.#put('odd/with blank.txt', text('blank\n'))
    this.#put('odd/ünï 日本語/файл.txt', text('unicode\n'))
    this.#put('odd/🎉 party 👩‍👩‍👧.md', text('emoji\n'))
    this.#put('odd/quote"and\\slash.txt', text('quoted\n'))
    this.#put('odd/empty', text(''))
    this.#put('odd/crlf.txt', text('one\r\ntwo\r\n'))
    this.#put('odd/no-newline', text('no newline at the end'))
    this.#put('odd/run.sh', text('#!/bin/sh\necho hi\n'), true)
    this.#put(
      'odd/binary.bin',
      Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256),
    )
    this.#say(`M 120000 inline "odd/link"\n`)
    this.#bytes(text('run.sh'))
    this.#say(`M 120000 inline "odd/broken link"\n`)
    this.#bytes(text('../nowhere/at all'))
  }

  #noise(sizeBytes: number): Uint8Array {
    return Uint8Array.from({ length: sizeBytes }, () => this.#random() * 256)
  }

  #put(path: string, bytes: Uint8Array | null, isExecutable = false): void {
    if (bytes === null) {
      if (this.#files.delete(path)) this.#say(`D ${quoted(path)}\n`)
      return
    }
    this.#files.set(path, bytes)
    this.#say(`M ${isExecutable ? '100755' : '100644'} inline ${quoted(path)}\n`)
    this.#bytes(bytes)
  }

  #move(from: string, to: string): void {
    const bytes = this.#files.get(from)
    if (!bytes || this.#files.has(to)) return
    this.#files.delete(from)
    this.#files.set(to, bytes)
    this.#say(`R ${quoted(from)} ${quoted(to)}\n`)
  }

  #bytes(bytes: Uint8Array): void {
    this.#say(`data ${bytes.byteLength}\n`)
    this.#out.push(bytes)
    this.#say('\n')
  }

  #say(line: string): void {
    this.#out.push(text(line))
  }
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content)
const latin = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 2)).toString('latin1')
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`
const numbers = (count: number): string => Array.from({ length: count }, (_, i) => `${i}\n`).join('')

/** Adds a line to a text; changes a byte of a binary file. */
function edited(bytes: Uint8Array, i: number, where: number): Uint8Array {
  const at = Math.floor(where * bytes.byteLength)
  if (bytes.includes(0)) return bytes.with(at, ((bytes[at] ?? 0) + 1) % 256)
  const line = bytes.indexOf(10, at) + 1
  return Buffer.concat([bytes.subarray(0, line), text(`// changed in ${i}\n`), bytes.subarray(line)])
}

/** Pseudo-random numbers from 0 to 1, equal for equal seeds (mulberry32). */
function randomFrom(seed: string): () => number {
  let state = [...seed].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
