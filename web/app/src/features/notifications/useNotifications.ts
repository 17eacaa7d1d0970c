import type { Message, SpaceState, Store } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { go, messagePath } from '../../router.ts'
import { lineOf } from '../markdown/plainText.ts'
import { isSilent, preferencesOf } from '../spaces/preferences.ts'
import { mayNotify, watchAttention } from './attention.ts'
import { isQuiet } from './quiet.ts'
import { playSound } from './sound.ts'
import { activeWorker, registerWorker } from './serviceWorker.ts'

/** Shows a desktop notification for messages that arrive while the user looks elsewhere, as they set it for the space. */
export function useNotifications(): void {
  const store = useStore()
  useEffect(() => {
    registerWorker()
    watchAttention()
  }, [])
  useEffect(() => store.onMessage((message) => notifyOf(store, message)), [store])
}

function notifyOf({ state }: Store, message: Message): void {
  const space = state.spaces[message.spaceId]
  if (state.me && space && isWanted(state.me.id, space, message)) void notify(state.me.id, space, message)
}

function isWanted(me: string, space: SpaceState, message: Message): boolean {
  const preferences = preferencesOf(me)
  const { notify, quiet } = preferences
  const level = notify[space.facts.id] ?? 'mentions'
  if (message.sender.id === me || isSilent(preferences, space.facts.id) || level === 'none' || isQuiet(quiet, new Date())) return false
  const decision = message.tool?.ui != null && message.tool.status === 'running'
  // Among the messages of tools, only an open card notifies.
  if (level === 'decisions' || message.kind === 'tool') return decision
  // In a direct conversation every message is for the user.
  return level === 'all' || decision || message.mentions.includes(me) || space.facts.direct
}

async function notify(me: string, space: SpaceState, message: Message): Promise<void> {
  if (!(await mayNotify())) return
  if (preferencesOf(me).sound) playSound()
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  const title = space.facts.direct ? message.sender.name : `${message.sender.name} · ${space.facts.name}`
  const path = messagePath(space.facts.id, message.id)
  // The newest message of a space replaces the one before.
  const shown = { title, body: lineOf(message), tag: space.facts.id, path }
  const worker = await activeWorker()
  // Phones show notifications of service workers only. The worker also gets a push of the message, and shows it once.
  if (worker) return worker.postMessage({ show: shown })
  const note = new Notification(title, { ...shown, icon: '/page/icon-192.png' })
  note.onclick = () => {
    window.focus()
    go(path)
    note.close()
  }
}
