/**
 * The texts of the app. Code holds the English text, which is also its key in the catalogues of other languages. A test
 * finds text that is not passed through here, and texts that a catalogue lacks.
 */
import { Fragment, createElement, type ReactNode } from 'react'

import { byLocale, catalogue, isRightToLeft } from './language.ts'

type Names<Text extends string> = string extends Text ? never : Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Values<Text extends string, Value> = [Names<Text>] extends [never] ? [] : [Record<Names<Text>, Value>]

/** A text in the language of the app: `t('Stop {name}', { name })`. */
export const t = <Text extends string>(text: Text, ...[values]: Values<Text, string | number>): string => filled(other(text), values).join('')

/** Like `t`, with elements in the places: `rich('Replying to {name}', { name: <b>{name}</b> })`. */
export const rich = <Text extends string>(text: Text, ...[values]: Values<Text, ReactNode>): ReactNode => filled(other(text), values).map((part, n) => createElement(Fragment, { key: n }, part as ReactNode))

/** Marks a text that is translated where it is used: `t(ROLES[role])`. */
export const msg = <Text extends string>(text: Text): Text => text

/** A text that depends on a number, which is `{n}` in it. The catalogues have it under the English plural. */
export function plural(n: number, one: string, many: string, values: Readonly<Record<string, string | number>> = {}): string {
  const found = catalogue()[many] ?? { one, other: many }
  const text = typeof found === 'string' ? found : (found[rules().select(n)] ?? found.other)
  return filled(text, { n, ...values }).join('')
}

export const count = (n: number): string => figures().format(n)

/** "Ada, Omar and Lina". A disjunction is "string or null". */
export const listed = (names: readonly string[], type: 'conjunction' | 'disjunction' = 'conjunction'): string => lists()[type].format(isRightToLeft() ? names.map(isolated) : names)

const figures = byLocale((locale) => new Intl.NumberFormat(locale))
const rules = byLocale((locale) => new Intl.PluralRules(locale))
const lists = byLocale((locale) => ({ conjunction: new Intl.ListFormat(locale), disjunction: new Intl.ListFormat(locale, { type: 'disjunction' }) }))

function other(text: string): string {
  const found = catalogue()[text]
  return typeof found === 'string' ? found : (found?.other ?? text)
}

/** The parts of a text, with values in place of `{name}`. */
function filled(text: string, values: Readonly<Record<string, unknown>> = {}): unknown[] {
  return text.split(/\{(\w+)\}/).map((part, n) => (n % 2 === 0 ? part : shown(values[part])))
}

function shown(value: unknown): unknown {
  if (typeof value === 'number') return count(value)
  return typeof value === 'string' && isRightToLeft() ? isolated(value) : value
}

/** A name in another script does not change the order of the words around it. */
const isolated = (value: string): string => `\u2068${value}\u2069`
