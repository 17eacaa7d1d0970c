import { useMe } from '@majlis/client/react'

import { msg, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { changePreferences, usePreferences, type Preferences } from '../spaces/preferences.ts'
import { usePermission, type Permission } from './permission.ts'
import { playSound } from './sound.ts'

const STATES: Record<Permission, string> = {
  granted: msg('Notifications are allowed in this browser. Each space has its own setting in its menu.'),
  default: msg('This browser shows notifications only if you allow them.'),
  denied: msg('Notifications are blocked. Allow them in the browser’s settings.'),
  unsupported: msg('This browser can’t show notifications here. They need https.'),
}
const NIGHT = { from: '22:00', to: '07:00' }

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
