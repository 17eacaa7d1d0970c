import { toast } from '../../ui/toast.tsx'

/** Asks the browser, once. Browsers allow notifications only on https and on this computer. */
export async function allowNotifications(): Promise<void> {
  if (!('Notification' in window)) return toast('This browser shows no notifications here')
  if (Notification.permission === 'default') await Notification.requestPermission()
  if (Notification.permission === 'denied') toast('Notifications are blocked. Allow them in the browser’s settings.')
}
