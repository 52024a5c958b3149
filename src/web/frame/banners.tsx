// What holds for every page: no network, and a limit that was reached, with the time until it is over.

import { useEffect, useState } from 'preact/hooks'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { LimitOfPage } from './limit.tsx'

export function Banners() {
  const isOffline = useOffline()
  return (
    <>
      {isOffline && <Notice kind="warning">{say('You are offline. What is shown may be old.')}</Notice>}
      <LimitOfPage />
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
