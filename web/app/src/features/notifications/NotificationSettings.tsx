import { useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { toast } from '../../ui/toast.tsx'
import { changePreferences, usePreferences, type Preferences } from '../spaces/preferences.ts'
import { usePermission, type Permission } from './permission.ts'
import { canPush, subscribe, unsubscribe, wantsPush } from './push.ts'
import { playSound } from './sound.ts'

const STATES: Record<Permission, string> = {
  granted: msg('Notifications are allowed in this browser. Each space has its own setting in its menu.'),
  default: msg('This browser shows notifications only if you allow them.'),
  denied: msg('Notifications are blocked. Allow them in the browser’s settings.'),
  unsupported: msg('This browser can’t show notifications here. They need https.'),
}
const NIGHT = { from: '22:00', to: '07:00' }

/** Lets the server notify this browser while the app is not open. */
function PushChoice({ me }: { me: string }) {
  const { client } = useStore()
  const [wanted, setWanted] = useState(() => wantsPush(me))
  const [busy, setBusy] = useState(false)
  const choose = async (on: boolean) => {
    setBusy(true)
    setWanted(on)
    try {
      await (on ? subscribe(client, me) : unsubscribe(client, me))
    } catch (error) {
      setWanted(wantsPush(me))
      toast(t('This browser could not be subscribed: {problem}', { problem: (error as Error).message }))
    }
    setBusy(false)
  }
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={wanted} disabled={busy} className="size-4 accent-link" onChange={(event) => void choose(event.target.checked)} />
      {t('Notify this browser while Majlis is closed')}
    </label>
  )
}

/** Notifications in this browser: permission, sound and quiet hours. */
export function NotificationSettings() {
  const me = useMe()!
  const { sound, quiet } = usePreferences(me.id)
  const [permission, ask] = usePermission()
  const set = (changed: Partial<Preferences>) => changePreferences(me.id, (before) => ({ ...before, ...changed }))
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-ink-soft">{t('Notifications')}</legend>
      <p>{t(STATES[permission])}</p>
      {permission === 'default' && <Button onClick={ask}>{t('Allow notifications')}</Button>}
      {canPush() && permission !== 'denied' && <PushChoice me={me.id} />}
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={sound}
          className="size-4 accent-link"
          onChange={(event) => {
            set({ sound: event.target.checked })
            if (event.target.checked) playSound()
          }}
        />
        {t('Play a sound')}
      </label>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <label className="flex items-center gap-2"><input type="checkbox" checked={quiet !== null} className="size-4 accent-link" onChange={(event) => set({ quiet: event.target.checked ? NIGHT : null })} />{t('Quiet hours')}</label>
        {quiet && (
          <span className="flex items-center gap-2 text-ink-soft">
            {(['from', 'to'] as const).map((end) => (
              <label key={end} className="flex items-center gap-2">
                {end === 'from' ? t('from') : t('to')}
                <input type="time" required value={quiet[end]} className="field w-auto py-1 text-small text-ink" onChange={(event) => event.target.value && set({ quiet: { ...quiet, [end]: event.target.value } })} />
              </label>
            ))}
          </span>
        )}
      </div>
    </fieldset>
  )
}
