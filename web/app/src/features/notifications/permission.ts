import { useState } from 'react'

import { t } from '../../language/words.ts'
import { toast } from '../../ui/toast.tsx'

export type Permission = NotificationPermission | 'unsupported'

export const permission = (): Permission => ('Notification' in window ? Notification.permission : 'unsupported')

/** Asks the browser, once. Browsers allow notifications only on https and on this computer. */
export async function allowNotifications(): Promise<void> {
  if (permission() === 'unsupported') return toast(t('This browser can’t show notifications here'))
  if (permission() === 'default') await Notification.requestPermission()
  if (permission() === 'denied') toast(t('Notifications are blocked. Allow them in the browser’s settings.'))
}

/** The browser's answer, and a function that asks for it. */
export function usePermission(): [Permission, () => void] {
  const [answer, setAnswer] = useState(permission)
  return [answer, () => void allowNotifications().then(() => setAnswer(permission()))]
}
