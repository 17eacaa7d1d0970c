import { useMe } from '@majlis/client/react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

import { msg, t } from '../../language/words.ts'
import { allowNotifications } from '../notifications/permission.ts'
import { changePreferences, toggled, usePreferences, type Notify } from './preferences.ts'

const ITEM = 'flex cursor-pointer items-center rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'
const LEVELS: Record<Notify, string> = { all: msg('All messages'), mentions: msg('Mentions and decisions'), decisions: msg('Decisions only'), none: msg('None') }

/** The menu of a space, open at first. */
export default function SpaceMenuList({ spaceId, button, box }: { spaceId: string; button: ReactNode; box: HTMLElement | null }) {
  const me = useMe()!
  const { pinned, muted, archived, notify } = usePreferences(me.id)
  const toggle = (list: 'pinned' | 'muted' | 'archived') => changePreferences(me.id, (before) => ({ ...before, [list]: toggled(before[list], spaceId) }))
  const setLevel = (level: Notify) => {
    changePreferences(me.id, (before) => ({ ...before, notify: { ...before.notify, [spaceId]: level } }))
    if (level !== 'none') void allowNotifications()
  }
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={box}>
        <DropdownMenu.Content align="end" sideOffset={4} className="z-30 min-w-56 animate-rise rounded-lg border border-line bg-paper-high p-1.5 text-small shadow-high">
          <DropdownMenu.Item className={ITEM} onSelect={() => toggle('pinned')}>{pinned.includes(spaceId) ? t('Unpin') : t('Pin to top')}</DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={() => toggle('muted')}>{muted.includes(spaceId) ? t('Unmute') : t('Mute')}</DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={() => toggle('archived')}>{archived.includes(spaceId) ? t('Unarchive') : t('Archive')}</DropdownMenu.Item>
          <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
          <DropdownMenu.Label className="px-2.5 py-1 text-tiny text-ink-soft">{t('Desktop notifications')}</DropdownMenu.Label>
          <DropdownMenu.RadioGroup value={notify[spaceId] ?? 'mentions'} onValueChange={(value) => setLevel(value as Notify)}>
            {Object.entries(LEVELS).map(([value, name]) => (
              <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                {t(name)}
                <DropdownMenu.ItemIndicator className="ms-auto">✓</DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
