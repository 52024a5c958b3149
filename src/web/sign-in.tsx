import { useState } from 'preact/hooks'
import { ApiError, messageOf, signIn } from './api.ts'
import { usePageTitle } from './router.tsx'
import { Notice } from './ui.tsx'
import type { Session } from './wire.ts'

export function SignIn({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  usePageTitle('Sign in')
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      onSignedIn(await signIn(key.trim()))
    } catch (error) {
      const refused = error instanceof ApiError && error.status === 401
      setProblem(refused ? 'This key is not valid. It may have expired or been revoked.' : messageOf(error))
      setBusy(false)
    }
  }
  return (
    <main class="narrow sign-in">
      <h1>Bellwether</h1>
      <form class="card" onSubmit={submit}>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <p class="hint">The key is exchanged for a cookie that scripts cannot read; it is not kept in this browser.</p>
        {problem !== null && <Notice kind="error">{problem}</Notice>}
        <button type="submit" class="primary" disabled={busy || key.trim() === ''}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}
