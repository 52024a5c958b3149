// Messages on all pages: no network, and a reached rate limit with the remaining time.

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
