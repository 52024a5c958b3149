// `getline` in its six forms. It returns 1 for a record, 0 at the end and -1 for a file that cannot be read.

import type { Evaluate, Machine, Slots, Step } from './machine.ts'
import type { LValue } from './places.ts'
import { Input } from './values.ts'

interface Getline {
  source: 'input' | 'file' | 'command'
  from: Evaluate | null
  /** Null for the record itself. */
  place: LValue | null
  /** The slot for the result. */
  answer: number
}

export function getlineStep(machine: Machine, getline: Getline): Step {
  return getline.source === 'input' ? inputStep(machine, getline) : namedStep(machine, getline)
}

function inputStep(machine: Machine, getline: Getline): Step {
  const { input } = machine
  const openAndRead = async (slots: Slots): Promise<void> => {
    let text = input.read()
    while (text === null && (await input.open())) text = input.read()
    keep(machine, getline, slots, text)
  }
  return (slots) => {
    const text = input.read()
    if (text === null) return openAndRead(slots)
    keep(machine, getline, slots, text)
    return machine.jumpBack({ at: machine.pc })
  }
}

function namedStep(machine: Machine, getline: Getline): Step {
  const { streams, variables } = machine
  return async (slots) => {
    const name = variables.text(getline.from?.(slots))
    const isCommand = getline.source === 'command'
    const reader = isCommand ? await streams.command(name) : await streams.file(name)
    if (!reader) {
      slots[getline.answer] = -1
      return
    }
    const text = reader.read(variables.rs)
    if (text !== null && isCommand) {
      variables.nr++
      // Only the records of the main input belong to a file, but every awk counts these too.
      variables.fnr++
    }
    keep(machine, getline, slots, text)
    const pause = machine.jumpBack({ at: machine.pc })
    if (pause) await pause
  }
}

function keep({ variables }: Machine, { place, answer }: Getline, slots: Slots, text: string | null): void {
  slots[answer] = text === null ? 0 : 1
  if (text === null) return
  if (place) place.set(slots, place.key(slots), new Input(text))
  else variables.record.setText(text)
}
