// The servers that run in the workspace.

import { useCallback, useEffect } from 'preact/hooks'
import { CopyButton } from '../markdown.tsx'
import { Loading, OutcomeNotice, SureButton, useAction, useLoaded } from '../settings/fields.tsx'
import { say } from '../texts.ts'
import { closePort, listPorts, type Port } from './workspace-api.ts'

const AGAIN_MS = 5_000

export function PortsPane({ id }: { id: string }) {
  const load = useCallback(() => listPorts(id), [id])
  const ports = useLoaded(load)
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && ports.reload(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [load])
  return (
    <div class="ws-ports">
      <Loading loaded={ports}>
        {(found) =>
          found.length === 0 ? (
            <p class="empty">
              {say('No server runs in the workspace. One that is started on a runner is listed here.')}
            </p>
          ) : (
            <>
              <ul class="rows">
                {found.map((port) => (
                  <li key={port.address}>
                    <PortRow id={id} port={port} onClosed={ports.reload} />
                  </li>
                ))}
              </ul>
              <p class="hint">{say('Whoever has the address can open it, until it is taken back.')}</p>
            </>
          )
        }
      </Loading>
    </div>
  )
}

function PortRow({ id, port: { address, port }, onClosed }: { id: string; port: Port; onClosed: () => void }) {
  const closing = useAction()
  const close = () =>
    closing.run(async () => {
      await closePort(id, port)
      onClosed()
      return { kind: 'info', text: say('The address was taken back.') }
    })
  return (
    <div class="row ws-port">
      <strong>{port}</strong>
      <a class="mono row-title" href={address} target="_blank" rel="noopener noreferrer">
        {address}
      </a>
      <CopyButton text={address} />
      <SureButton
        label={say('Take back')}
        question="Take the address back? Open pages of it end."
        busy={closing.busy}
        onSure={() => void close()}
      />
      <OutcomeNotice outcome={closing.outcome} />
    </div>
  )
}
