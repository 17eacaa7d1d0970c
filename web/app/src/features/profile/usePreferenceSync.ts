/** Keeps the choices of a person the same in all their browsers. The copy in the browser is for the first paint. */
import { applyPreferences, MajlisError, type Preferences, type Store } from '@majlis/client'
import { useConnection, useMajlis, useMe, useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { chooseLanguage, chosenLanguage } from '../../language/language.ts'
import { adoptTheme, savedTheme } from '../../theme.ts'
import { chosenTimeZone, keepTimeZone } from '../../ui/timeZone.ts'
import { toast } from '../../ui/toast.tsx'
import { adoptPreferences, preferencesOf } from '../spaces/preferences.ts'
import { noteChange, noteSent, onUnsent, openUnsent, unsent, type Choices } from './unsent.ts'

type Name = keyof Choices

export function usePreferenceSync(): void {
  const store = useStore()
  const me = useMe()?.id
  const live = useConnection() === 'live'
  const saved = useMajlis((state) => state.preferences)
  useEffect(() => {
    if (me) openUnsent(me)
  }, [me])
  useEffect(() => {
    if (!me || !live) return
    void load(store, me)
    return onUnsent(() => void send(store, me))
  }, [store, me, live])
  useEffect(() => {
    if (me && saved) adopt(me, saved)
  }, [me, saved])
}

async function load(store: Store, me: string): Promise<void> {
  try {
    const saved = await store.client.preferences.get()
    store.change((state) => applyPreferences(state, saved))
    // Choices from before the server kept them.
    if (saved.revision === 0) noteChange(...names(me).filter((name) => !same(choices(me)[name], saved[name])))
  } catch {
    // Loaded again with the next connection.
  }
  await send(store, me)
}

let sending = false

async function send(store: Store, me: string): Promise<void> {
  if (sending) return
  sending = true
  try {
    for (let left = [...unsent()]; left.length > 0; left = [...unsent()]) {
      const now = choices(me)
      const part = Object.fromEntries(left.map((name) => [name, now[name]]))
      const saved = await store.client.preferences.change(part).catch((error: unknown) => {
        if (!isRefused(error)) throw error
        toast(error.message)
        return null
      })
      noteSent(left.filter((name) => !saved || same(choices(me)[name], now[name])))
      if (saved) store.change((state) => applyPreferences(state, saved))
    }
  } catch {
    // Sent with the next connection.
  } finally {
    sending = false
  }
}

function adopt(me: string, saved: Preferences): void {
  const kept = unsent()
  const now = choices(me)
  const changed = (name: Name): boolean => !kept.has(name) && !same(now[name], saved[name])
  if (saved.revision === 0) return
  if (changed('theme')) adoptTheme(saved.theme)
  if (changed('language')) void chooseLanguage(saved.language).catch(() => {})
  if (changed('timeZone')) keepTimeZone(saved.timeZone)
  const part = Object.fromEntries(Object.keys(preferencesOf(me)).filter((name) => changed(name as Name)).map((name) => [name, saved[name as Name]]))
  if (Object.keys(part).length > 0) adoptPreferences(me, part)
}

const choices = (me: string) => ({ theme: savedTheme(), language: chosenLanguage(), timeZone: chosenTimeZone(), ...preferencesOf(me) }) as unknown as Choices
const names = (me: string): Name[] => Object.keys(choices(me)) as Name[]
const isRefused = (error: unknown): error is MajlisError => error instanceof MajlisError && error.status === 422
/** Objects from the server and from the browser may name their keys in another order. */
const same = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other)
const sorted = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (each !== null && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).toSorted()) : each))
