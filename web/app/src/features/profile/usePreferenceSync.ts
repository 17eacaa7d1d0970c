/** Keeps the choices of a person the same in all their browsers. The copy in the browser is for the first paint. */
import { applyPreferences, MajlisError, type Preferences, type Store } from '@majlis/client'
import { useConnection, useMajlis, useMe, useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { chooseLanguage, chosenLanguage } from '../../language/language.ts'
import { adoptTheme, savedTheme } from '../../theme.ts'
import { loadItem, saveItem } from '../../ui/storage.ts'
import { chosenTimeZone, keepTimeZone } from '../../ui/timeZone.ts'
import { toast } from '../../ui/toast.tsx'
import { adoptPreferences, preferencesOf } from '../spaces/preferences.ts'
import { keepShared, merged, noteChange, noteSent, onUnsent, openUnsent, unsent, type Choices } from './unsent.ts'

type Name = keyof Choices

const LAST_PERSON = 'majlis.preferences-of'

export function usePreferenceSync(): void {
  const store = useStore()
  const me = useMe()?.id
  const live = useConnection() === 'live'
  const saved = useMajlis((state) => state.preferences)
  useEffect(() => {
    if (me) startAs(me)
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

const RETRY_MS = 5000
let sending = false
let retry: ReturnType<typeof setTimeout> | undefined

async function load(store: Store, me: string): Promise<void> {
  clearTimeout(retry)
  try {
    const saved = await store.client.preferences.get()
    store.change((state) => applyPreferences(state, saved))
    adopt(me, saved)
    // Choices from before the server kept them.
    if (saved.revision === 0) noteChange(...names(me).filter((name) => !same(choices(me)[name], saved[name])))
  } catch (error) {
    tryAgain(store, me, error)
    return
  }
  await send(store, me)
}

/** Otherwise with the next connection or choice. Loads first: a list may have been changed elsewhere meanwhile. */
function tryAgain(store: Store, me: string, error: unknown): void {
  clearTimeout(retry)
  if (error instanceof MajlisError && error.retryable) retry = setTimeout(() => void load(store, me), RETRY_MS)
}

async function send(store: Store, me: string): Promise<void> {
  if (sending) return
  clearTimeout(retry)
  sending = true
  try {
    let oneByOne = false
    for (let left = [...unsent()]; left.length > 0; left = [...unsent()]) {
      const now = choices(me)
      const sent = oneByOne ? left.slice(0, 1) : left
      const saved = await store.client.preferences.change(Object.fromEntries(sent.map((name) => [name, now[name]]))).catch((error: unknown) => {
        if (!isRefused(error)) throw error
        if (sent.length === 1) toast(error.message)
        return null
      })
      if (saved) store.change((state) => applyPreferences(state, saved))
      // One that is refused does not hold back the others.
      if (!saved && sent.length > 1) oneByOne = true
      else noteSent(sent.filter((name) => !saved || same(choices(me)[name], now[name])))
    }
  } catch (error) {
    tryAgain(store, me, error)
  } finally {
    sending = false
  }
}

function adopt(me: string, saved: Preferences): void {
  if (saved.revision === 0) return keepShared(me, saved)
  const kept = unsent()
  const now = choices(me)
  const next = Object.fromEntries(names(me).map((name) => [name, kept.has(name) ? merged(me, name, now[name], saved) : saved[name]])) as unknown as Choices
  const changed = (name: Name): boolean => !same(now[name], next[name])
  keepShared(me, saved)
  if (changed('theme')) adoptTheme(next.theme)
  if (changed('language')) void chooseLanguage(next.language).catch(() => {})
  if (changed('timeZone')) keepTimeZone(next.timeZone)
  const part = Object.fromEntries(Object.keys(preferencesOf(me)).filter((name) => changed(name as Name)).map((name) => [name, next[name as Name]]))
  if (Object.keys(part).length > 0) adoptPreferences(me, part)
}

/** Appearance, language and time zone are kept per browser, so that they are right before anyone has signed in. They are
 * of the person who was here last; the next one starts without them. */
function startAs(me: string): void {
  const before = loadItem(LAST_PERSON)
  saveItem(LAST_PERSON, me)
  openUnsent(me)
  if (before === null || before === me) return
  adoptTheme('system')
  keepTimeZone(null)
  void chooseLanguage(null).catch(() => {})
}

const choices = (me: string) => ({ theme: savedTheme(), language: chosenLanguage(), timeZone: chosenTimeZone(), ...preferencesOf(me) }) as unknown as Choices
const names = (me: string): Name[] => Object.keys(choices(me)) as Name[]
const isRefused = (error: unknown): error is MajlisError => error instanceof MajlisError && error.status === 422
/** Objects from the server and from the browser may name their keys in another order. */
const same = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other)
const sorted = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (each !== null && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).toSorted()) : each))
