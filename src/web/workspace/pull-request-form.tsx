import '../settings.css'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { useUnsaved } from '../frame/unsaved.ts'
import { Link } from '../router.tsx'
import { ScrolledPre } from '../scrolled-pre.tsx'
import { Field, Loading, SaveForm, TextField, Toggle, useLoaded } from '../settings/fields.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import {
  type Draft,
  Hindrance,
  hasDrafts,
  isBranchName,
  nameOfProvider,
  nameOfRequest,
  noteOpened,
  openedBefore,
  openRequest,
  STEPS,
  type Step,
  type Target,
  targetOf,
} from './pull-request.ts'

type Props = { id: string; onPushed: () => void }

/** An obstacle is a normal result here, and is shown with a link to the fix. */
type Prepared = { target: Target } | { hindrance: Hindrance }

export function PullRequest({ id, onPushed }: Props) {
  const [opened, setOpened] = useState(openedBefore(id))
  const [written, setWritten] = useUnsaved<Draft | null>(`request ${id}`, null)
  const load = useCallback(
    (): Promise<Prepared> =>
      targetOf(id).then(
        (target) => ({ target }),
        (error: unknown) => {
          if (error instanceof Hindrance) return { hindrance: error }
          throw error
        },
      ),
    [id],
  )
  const loaded = useLoaded(load)
  const opening = useOpening(id, (address) => {
    noteOpened(id, address)
    setWritten(null)
    setOpened(address)
    onPushed()
  })
  if (opened !== null) return <Opened address={opened} onAnother={() => setOpened(null)} />
  return (
    <Loading loaded={loaded}>
      {(prepared) =>
        'hindrance' in prepared ? (
          <HindranceNotice hindrance={prepared.hindrance} />
        ) : (
          <RequestForm target={prepared.target} opening={opening} written={written} onWritten={setWritten} />
        )
      }
    </Loading>
  )
}

const Opened = ({ address, onAnother }: { address: string; onAnother: () => void }) => (
  <Notice kind="info" action={{ label: say('Open another one'), run: onAnother }}>
    {say('The request is open:')}{' '}
    <a href={address} target="_blank" rel="noreferrer">
      {address}
    </a>
  </Notice>
)

const LINKS: Readonly<Record<string, Text>> = { '/settings/git-hosts': 'Git hosts', '/': 'All conversations' }

const HindranceNotice = ({ hindrance: { message, to, said } }: { hindrance: Hindrance }) => (
  <>
    <Notice kind="error">
      <span>{message}</span> {to !== null && <Link to={to}>{say(LINKS[to] ?? 'Conversation')}</Link>}
    </Notice>
    {said !== '' && <ScrolledPre class="output">{said}</ScrolledPre>}
  </>
)

/** By conversation: a form that is closed and opened again shows the running request, and starts no second one. */
const underWay = new Map<string, { step: Step; tell: (step: Step) => void; address: Promise<string> }>()

function begin(id: string, target: Target): void {
  const one = { step: STEPS[0] as Step, tell: (_: Step) => {}, address: Promise.resolve('') }
  const onStep = (step: Step) => {
    one.step = step
    one.tell(step)
  }
  one.address = openRequest(id, target, onStep).finally(() => underWay.delete(id))
  underWay.set(id, one)
}

function useOpening(id: string, onOpened: (address: string) => void) {
  const [step, setStep] = useState<Step | null>(null)
  const [trouble, setTrouble] = useState<Hindrance | null>(null)
  const follow = async () => {
    const one = underWay.get(id)
    if (one === undefined) return
    setStep(one.step)
    one.tell = setStep
    try {
      onOpened(await one.address)
    } catch (error) {
      setTrouble(asHindrance(error))
    }
    setStep(null)
  }
  useEffect(() => void follow(), [id])
  const open = (target: Target, draft: Draft) => {
    // A second click may come before the first is rendered.
    if (underWay.has(id)) return
    setTrouble(null)
    try {
      begin(id, { ...target, draft: checked(draft) })
      void follow()
    } catch (error) {
      setTrouble(asHindrance(error))
    }
  }
  return { step, trouble, open }
}

const asHindrance = (error: unknown): Hindrance =>
  error instanceof Hindrance ? error : new Hindrance(messageOf(error))

type FormProps = {
  target: Target
  opening: ReturnType<typeof useOpening>
  written: Draft | null
  onWritten: (draft: Draft) => void
}

function RequestForm({ target, opening: { step, trouble, open }, written, onWritten }: FormProps) {
  const draft = written ?? target.draft
  const run = () => open(target, draft)
  return (
    <section class="ws-request" aria-label={say(nameOfRequest(target.provider))}>
      <SaveForm
        action={{ busy: step !== null, outcome: null, error: null }}
        onSave={run}
        verb="Commit, push and open it"
        busyText={step ?? undefined}
      >
        <h2>{say(nameOfRequest(target.provider))}</h2>
        <TargetLine target={target} />
        <Fields draft={draft} provider={target.provider} onChange={(part) => onWritten({ ...draft, ...part })} />
        <p class="visually-hidden" role="status">
          {step === null ? '' : say(step)}
        </p>
        {trouble !== null && <HindranceNotice hindrance={trouble} />}
      </SaveForm>
    </section>
  )
}

function TargetLine({ target: { provider, repository, numbers } }: { target: Target }) {
  const opened = numbers.map((n) => `#${n}`).join(', ')
  return (
    <p class="hint">
      {say('{provider}, {repository}', { provider: nameOfProvider(provider), repository })}
      {numbers.length > 0 && ` · ${say('already opened here: {numbers}', { numbers: opened })}`}
    </p>
  )
}

type FieldsProps = { draft: Draft; provider: Target['provider']; onChange: (part: Partial<Draft>) => void }

function Fields({ draft, provider, onChange }: FieldsProps) {
  return (
    <>
      <TextField label="Branch" value={draft.branch} onText={(branch) => onChange({ branch })} isMono isRequired />
      <TextField label="Into" value={draft.into} onText={(into) => onChange({ into })} isMono isRequired />
      <TextField
        label="Title"
        value={draft.title}
        onText={(title) => onChange({ title })}
        hint={say('Also the message of the commit, where something is not committed yet.')}
        isRequired
      />
      <Field label={say('Description')}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={4}
            value={draft.text}
            onInput={(event) => onChange({ text: event.currentTarget.value })}
          />
        )}
      </Field>
      {hasDrafts(provider) && (
        <Toggle label="As a draft" isOn={draft.isDraft} onChange={(isDraft) => onChange({ isDraft })} />
      )}
    </>
  )
}

/** The values without surrounding blanks, or why the request is invalid. */
function checked(written: Draft): Draft {
  const draft = { ...written, branch: written.branch.trim(), into: written.into.trim(), title: written.title.trim() }
  if (!isBranchName(draft.branch) || !isBranchName(draft.into))
    throw new Hindrance(say('Git takes no branch of that name.'))
  if (draft.branch === draft.into) throw new Hindrance(say('A branch cannot go into itself. Choose another name.'))
  if (draft.title === '') throw new Hindrance(say('A request needs a title.'))
  return draft
}
