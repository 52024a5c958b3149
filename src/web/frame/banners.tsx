// What holds for every page: no network, and a limit that was reached, with the time until it is over.

import { useEffect, useState } from 'preact/hooks'
import { LIMITED } from '../api.ts'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'

export function Banners() {
  const isOffline = useOffline()
  const seconds = useLimit()
  return (
    <>
      {isOffline && <Notice kind="warning">{say('You are offline. What is shown may be old.')}</Notice>}
      {seconds > 0 && (
        <Notice kind="warning">
          {say('Too many requests.')}{' '}
          <span aria-hidden="true">{say('The service answers again in {seconds} s.', { seconds })}</span>
        </Notice>
      )}
    </>
  )
}

function useOffline(): boolean {
  const [isOffline, setIsOffline] = useState(!navigator.onLine)
  useEffect(() => {
    const look = () => setIsOffline(!navigator.onLine)
    addEventListener('online', look)
    addEventListener('offline', look)
    return () => {
      removeEventListener('online', look)
      removeEventListener('offline', look)
    }
  }, [])
  return isOffline
}

/** The seconds that are left of the newest limit. */
function useLimit(): number {
  const [until, setUntil] = useState(0)
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const onLimited = (event: Event) => {
      if (!(event instanceof CustomEvent)) return
      setNow(Date.now())
      setUntil(Date.now() + Number(event.detail) * 1000)
    }
    addEventListener(LIMITED, onLimited)
    return () => removeEventListener(LIMITED, onLimited)
  }, [])
  useEffect(() => {
    if (until <= Date.now()) return
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [until, now >= until])
  return Math.max(0, Math.ceil((until - now) / 1000))
}
