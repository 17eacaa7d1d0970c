import type { Message, SpaceState, State } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { go, messagePath } from '../../router.ts'
import { lineOf } from '../markdown/plainText.ts'
import { preferencesOf } from '../spaces/preferences.ts'

/** Shows a desktop notification for messages that arrive while the page has no focus, as the person set it for the space. */
export function useNotifications(): void {
  const store = useStore()
  useEffect(() => {
    let before = store.snapshot()
    return store.subscribe(() => {
      const [old, state] = [before, store.snapshot()]
      before = state
      // Not after a reload of everything: those messages are not new.
      if (old.me && old.spaces !== state.spaces && !document.hasFocus()) notifyNew(old, state)
    })
  }, [store])
}

function notifyNew(old: State, state: State): void {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  for (const space of Object.values(state.spaces)) {
    const [last, known] = [space.lastMessage, old.spaces[space.facts.id]]
    if (last && known && last.seq > known.headSeq && wanted(state.me!.id, space, last)) show(space, last)
  }
}

function wanted(me: string, space: SpaceState, message: Message): boolean {
  const { muted, notify } = preferencesOf(me)
  const level = notify[space.facts.id] ?? 'mentions'
  if (message.sender.id === me || muted.includes(space.facts.id) || level === 'none') return false
  return level === 'all' || message.mentions.includes(me) || (message.tool?.ui != null && message.tool.status === 'running')
}

function show(space: SpaceState, message: Message): void {
  const note = new Notification(`${message.sender.name} · ${space.facts.name}`, { body: lineOf(message), tag: space.facts.id, icon: '/page/icon.svg' })
  note.onclick = () => {
    window.focus()
    go(messagePath(space.facts.id, message.id))
    note.close()
  }
}
