// What waits for the reader while they look elsewhere: the window's title, its icon and, where they asked for it, a
// notification of the browser say so until they are back.

import { say } from '../texts.ts'

export type Attention = 'waiting' | 'finished'

const MARKS: Record<Attention, string> = { waiting: '⚠', finished: '✓' }
const ICONS: Record<Attention, string> = { waiting: '/favicon-waiting.svg', finished: '/favicon-finished.svg' }
const PLAIN_ICON = '/favicon.svg'
const STORED_AS = 'bellwether.notify'

let title = ''
/** A confirmation waits as long as it waits; that something finished is told until it is seen. */
let waiting = false
let finished = false

/** Answers the name of before; an empty one for none. */
export function nameWindow(name: string): string {
  const before = title
  title = name
  draw()
  return before
}

export function setWaiting(isWaiting: boolean, about: string): void {
  if (isWaiting && !waiting) tell(say('Waiting for a confirmation'), about)
  waiting = isWaiting
  draw()
}

/** Told only to who does not look. */
export function noteFinished(what: string, about: string): void {
  if (document.visibilityState === 'visible') return
  finished = true
  tell(what, about)
  draw()
}

export function watchReturns(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return
    finished = false
    draw()
  })
}

function draw(): void {
  const attention: Attention | null = waiting ? 'waiting' : finished ? 'finished' : null
  const name = title === '' ? 'Bellwether' : `${title} · Bellwether`
  document.title = attention === null ? name : `${MARKS[attention]} ${name}`
  document.querySelector('link[rel="icon"]')?.setAttribute('href', attention === null ? PLAIN_ICON : ICONS[attention])
}

export const canNotify = (): boolean => 'Notification' in globalThis

export const isNotifying = (): boolean =>
  canNotify() && Notification.permission === 'granted' && localStorage.getItem(STORED_AS) === 'yes'

/** Asks the browser, which asks the reader; whether they are notified now. */
export async function setNotifying(on: boolean): Promise<boolean> {
  if (!on) localStorage.removeItem(STORED_AS)
  else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(STORED_AS, 'yes')
  return isNotifying()
}

function tell(what: string, about: string): void {
  if (document.visibilityState === 'visible' || !isNotifying()) return
  const notification = new Notification(what, { body: about, icon: PLAIN_ICON, tag: `${what} ${about}` })
  notification.addEventListener('click', () => window.focus())
}
