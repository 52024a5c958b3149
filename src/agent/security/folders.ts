// Where the shell is while a script runs, as far as the script and what was there before tell it, and to which places the
// paths lead that it names. A `cd` may fail, and a branch may not be taken: then the shell may be in one place or another.

import { HOME } from './paths.ts'
import type { Links } from './verdict.ts'

/** The most places that are distinguished. */
const MAX_PLACES = 16
const MAX_LINKS = 20
const MAX_PATH = 1024
/** They are there whenever the shell is anywhere. */
const SURELY_THERE = /^(\.\.?\/?)+$|^\/(workspace|tmp)?\/?$/
const MARKS = /[\uE000-\uE004]/

export class Folders {
  /** Absolute, or relative to a folder of which nothing is known. */
  #now: readonly string[]
  readonly #links: Links | null
  /** Made by the script itself: where they stand, and what they lead to. */
  readonly #made = new Map<string, string>()

  constructor(cwd: string | null, links: Links | null) {
    this.#now = [cwd ?? '']
    this.#links = links
  }

  /** To be given to `mayBeAt` or `goBackTo` later. */
  get now(): readonly string[] {
    return this.#now
  }

  goBackTo(places: readonly string[]): void {
    this.#now = places
  }

  /** The shell may be there as well, as what led away from there may not have happened. */
  mayBeAt(places: readonly string[]): void {
    this.#now = [...new Set([...this.#now, ...places])].slice(-MAX_PLACES)
  }

  enter(target: string): void {
    const before = this.#now
    if (MARKS.test(target)) return
    this.#now = [...new Set(before.map((folder) => joined(folder, target)))]
    if (!SURELY_THERE.test(target)) this.mayBeAt(before)
  }

  /** A subshell does not change the folder of this shell. */
  apart<T>(work: () => T): T {
    const before = this.#now
    try {
      return work()
    } finally {
      this.#now = before
    }
  }

  /** The commands inside may or may not run. */
  maybe<T>(work: () => T): T {
    const before = this.#now
    const done = work()
    if (this.#now !== before) this.mayBeAt(before)
    return done
  }

  link(name: string, target: string): void {
    for (const place of this.placesOf(name)) {
      if (this.#made.size < MAX_LINKS) this.#made.set(place, joined(place.replace(/[^/]*$/, ''), target))
    }
  }

  /** The path as it is written, and the places that it may lead to from here. */
  placesOf(path: string): readonly string[] {
    const places = new Set([path])
    if (path === '' || path.length > MAX_PATH) return [path]
    for (const folder of this.#now) {
      const place = joined(folder, path)
      places.add(place)
      for (const led of this.#ledTo(place)) places.add(led)
    }
    return [...places]
  }

  /** Null where the place is unknown. */
  isThere(path: string): boolean | null {
    const links = this.#links
    const places = this.#now.map((folder) => joined(folder, path))
    if (links === null || places.some((place) => !place.startsWith('/') || MARKS.test(place))) return null
    return places.some((place) => links.exists(place))
  }

  *#ledTo(place: string): Generator<string> {
    const led = place.startsWith('/') && !MARKS.test(place) ? (this.#links?.resolve(place) ?? null) : null
    if (led !== null) yield led
    for (const [link, target] of this.#made) {
      if (place === link || place.startsWith(`${link}/`)) yield joined(target, place.slice(link.length + 1))
    }
  }
}

function joined(folder: string, path: string): string {
  const from = path.replace(/^~([\w-]*)(?=\/|$)/, (_, user) => (user === '' ? HOME : `/home/${user}`))
  const whole = from.startsWith('/') || folder === '' ? from : `${folder}/${from}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..' && (whole.startsWith('/') || !/^(\.\.)?$/.test(parts.at(-1) ?? ''))) parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${whole.startsWith('/') ? '/' : ''}${parts.join('/')}`
}
