// Whether characters are bytes for the shell, by its own variables.

import { byteText, isByteLocale } from '../../byte-locale.ts'
import type { ShellVariables } from '../shape.ts'

type Variables = Pick<ShellVariables, 'env'>

export const countsBytes = ({ env }: Variables): boolean => isByteLocale((name) => env.get(name))

/** For operations that count or compare characters. */
export const inLocale = (state: Variables, text: string): string => (countsBytes(state) ? byteText(text) : text)
