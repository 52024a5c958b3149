// Changes in one tab are shown in the others.

import { useEffect } from 'preact/hooks'

type Topic = 'conversations' | 'watchlists' | 'alerts' | 'screens' | 'runners'

const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('bellwether') : null

export const noteChange = (topic: Topic): void => channel?.postMessage(topic)

/** Other clients make changes too, so a visible page is refreshed regularly. */
const ASK_EVERY_MS = 15_000

export function useChanges(topic: Topic, again: () => void, everyMs = ASK_EVERY_MS): void {
  useEffect(() => {
    const onMessage = ({ data }: MessageEvent) => {
      if (data === topic) again()
    }
    const onVisible = () => {
      if (document.visibilityState === 'visible') again()
    }
    channel?.addEventListener('message', onMessage)
    document.addEventListener('visibilitychange', onVisible)
    const timer = setInterval(onVisible, everyMs)
    return () => {
      channel?.removeEventListener('message', onMessage)
      document.removeEventListener('visibilitychange', onVisible)
      clearInterval(timer)
    }
  }, [everyMs])
}
