/** Which choices of the person are only in this browser so far. Stored, so that they are sent after a reload, too. */
import type { Preferences } from '@majlis/client'

import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'

export type Choices = Omit<Preferences, 'revision'>
type Name = keyof Choices

const listeners = new Set<() => void>()
let me: string | null = null

export function openUnsent(person: string): void {
  me = person
}

/** Calls back when there is something to send. Returns a function that ends this. */
export function onUnsent(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function noteChange(...names: Name[]): void {
  if (names.length === 0) return
  save(new Set([...unsent(), ...names]))
  listeners.forEach((each) => each())
}

export function noteSent(names: readonly Name[]): void {
  save(new Set([...unsent()].filter((each) => !names.includes(each))))
}

export function unsent(): Set<Name> {
  const saved = me === null ? null : loadItem(keyOf(me))
  return new Set(saved ? (saved.split(' ') as Name[]) : [])
}

function save(names: ReadonlySet<Name>): void {
  if (me === null) return
  if (names.size > 0) saveItem(keyOf(me), [...names].join(' '))
  else removeItem(keyOf(me))
}

/** The choices as both the server and this browser last had them. Changes made here since then are added to those made
 * elsewhere: a list or map is never replaced as a whole by one of an older state. */
export function keepShared(person: string, saved: Choices): void {
  saveItem(sharedKeyOf(person), JSON.stringify(saved))
}

export function merged(person: string, name: Name, mine: unknown, saved: Choices): unknown {
  const before = shared(person) ?? saved
  if (name === 'notify') return mergedMaps(before.notify, mine as Choices['notify'], saved.notify)
  if (Array.isArray(mine)) return mergedLists(before[name] as string[], mine as string[], saved[name] as string[])
  return mine
}

function shared(person: string): Choices | null {
  try {
    return JSON.parse(loadItem(sharedKeyOf(person)) ?? 'null') as Choices | null
  } catch {
    return null
  }
}

function mergedLists(before: readonly string[], mine: readonly string[], theirs: readonly string[]): string[] {
  const removed = before.filter((each) => !mine.includes(each))
  const added = mine.filter((each) => !before.includes(each))
  return [...theirs.filter((each) => !removed.includes(each) && !added.includes(each)), ...added]
}

function mergedMaps<Value>(before: Readonly<Record<string, Value>>, mine: Readonly<Record<string, Value>>, theirs: Readonly<Record<string, Value>>): Record<string, Value> {
  const left = Object.entries(theirs).filter(([key]) => before[key] === mine[key])
  return Object.fromEntries([...left, ...Object.entries(mine).filter(([key, value]) => before[key] !== value)])
}

const sharedKeyOf = (person: string): string => `majlis.shared-preferences.${person}`
const keyOf = (person: string): string => `majlis.unsent-preferences.${person}`
