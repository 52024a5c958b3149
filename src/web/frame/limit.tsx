// A reached rate limit is shown in one place: next to the refused request, otherwise at the top of the page.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { LIMITED } from '../api.ts'
import { say } from '../texts.ts'

const CHANGED = 'bellwether:limit-changed'

/** Epoch ms at which the service accepts requests again. */
let until = 0
/** The number of cards that show it now. */
let cards = 0

addEventListener(LIMITED, (event) => {
  if (!(event instanceof CustomEvent)) return
  until = Date.now() + Number(event.detail) * 1000
  dispatchEvent(new Event(CHANGED))
})

function useLimit(): { seconds: number; cards: number } {
  const [now, setNow] = useState(Date.now())
  const [told, setTold] = useState(cards)
  useLayoutEffect(() => {
    const look = () => {
      setNow(Date.now())
      setTold(cards)
    }
    look()
    addEventListener(CHANGED, look)
    return () => removeEventListener(CHANGED, look)
  }, [])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  useEffect(() => {
    if (seconds === 0) return
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [seconds > 0])
  return { seconds, cards: told }
}

/** Hidden from screen readers, which would otherwise read it every second. */
const SecondsLeft = ({ seconds }: { seconds: number }) => (
  <span aria-hidden="true">{say('The service answers again in {seconds} s.', { seconds })}</span>
)

/** Shown after the error message of a card. `onOver` is called once, when the service accepts requests again. */
export function LimitOfCard({ onOver }: { onOver: (() => void) | undefined }) {
  const { seconds } = useLimit()
  const isAwaited = useRef(false)
  useEffect(() => {
    if (seconds > 0) isAwaited.current = true
    else if (isAwaited.current) {
      isAwaited.current = false
      onOver?.()
    }
  }, [seconds > 0])
  // Before the frame is painted: otherwise the page would briefly show the limit twice.
  useLayoutEffect(() => {
    cards += 1
    dispatchEvent(new Event(CHANGED))
    return () => {
      cards -= 1
      dispatchEvent(new Event(CHANGED))
    }
  }, [])
  return seconds > 0 ? (
    <>
      {' '}
      <SecondsLeft seconds={seconds} />
    </>
  ) : null
}

/** For refused requests that show nothing themselves. */
export function LimitOfPage() {
  const { seconds, cards: told } = useLimit()
  if (seconds === 0 || told > 0) return null
  return (
    <div class="notice warning" role="status">
      <div>
        {say('Too many requests.')} <SecondsLeft seconds={seconds} />
      </div>
    </div>
  )
}
