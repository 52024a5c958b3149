// Notifies users who look elsewhere: the window's title, its icon and, if enabled, a browser notification show that
// something waits, until they return.

import { say } from '../texts.ts'

export type Attention = 'waiting' | 'finished'

const MARKS: Record<Attention, string> = { waiting: '⚠', finished: '✓' }
const ICONS: Record<Attention, string> = { waiting: '/favicon-waiting.svg', finished: '/favicon-finished.svg' }
const PLAIN_ICON = '/favicon.svg'
const STORED_AS = 'bellwether.notify'

let title = ''
/** A confirmation is shown until it is answered; a finished agent until the user returns. */
let waiting = false
let finished = false

/** Returns the previous name; empty for none. */
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

/** Only shown to users who look elsewhere. */
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

/** Requests permission from the browser; returns whether notifications are on now. */
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
