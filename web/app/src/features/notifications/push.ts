/** Web push: notifications of this browser while the app is not open in it. */
import type { Client } from '@majlis/client'

import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'

export const canPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** Several people can use a browser; the choice is of one of them. */
export const wantsPush = (me: string): boolean => loadItem(keyOf(me)) !== null

export async function subscribe(client: Client, me: string): Promise<void> {
  if (Notification.permission === 'default') await Notification.requestPermission()
  const manager = (await navigator.serviceWorker.ready).pushManager
  const { publicKey } = await client.push.get()
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  const made = await manager.subscribe(options).catch(async () => {
    // The browser is subscribed with the key of an earlier installation.
    await (await manager.getSubscription())?.unsubscribe()
    return manager.subscribe(options)
  })
  const { endpoint, keys } = made.toJSON() as { endpoint: string; keys: { p256dh: string; auth: string } }
  await client.push.subscribe({ endpoint, keys, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone })
  saveItem(keyOf(me), 'yes')
}

export async function unsubscribe(client: Client, me: string): Promise<void> {
  removeItem(keyOf(me))
  const made = await currentSubscription()
  if (!made) return
  await client.push.unsubscribe(made.endpoint)
  await made.unsubscribe()
}

/** At the start of the app: the session is another one, the browser may have a new endpoint, or another person used it. */
export async function renew(client: Client, me: string): Promise<void> {
  if (!canPush()) return
  if (wantsPush(me) && Notification.permission === 'granted') await subscribe(client, me)
  else await (await currentSubscription())?.unsubscribe()
}

const currentSubscription = async (): Promise<PushSubscription | null> => (await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription()) ?? null

const keyOf = (me: string): string => `majlis.push.${me}`
