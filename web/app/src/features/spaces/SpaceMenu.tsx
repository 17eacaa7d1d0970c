import { useMe } from '@majlis/client/react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'

import { IconButton } from '../../ui/Button.tsx'
import { More } from '../../ui/icons.tsx'
import { allowNotifications } from '../notifications/permission.ts'
import { changePreferences, toggled, usePreferences, type Notify } from './preferences.ts'

const ITEM = 'flex cursor-pointer items-center rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'
const LEVELS: Record<Notify, string> = { all: 'All messages', mentions: 'Mentions and decisions', decisions: 'Decisions only', none: 'None' }

/** Pins, mutes or archives a space, and sets its notifications. */
export function SpaceMenu({ spaceId }: { spaceId: string }) {
  const me = useMe()!
  const { pinned, muted, archived, notify } = usePreferences(me.id)
  // Rendered inside the header, so that the menu belongs to a landmark.
  const [box, setBox] = useState<HTMLElement | null>(null)
  const toggle = (list: 'pinned' | 'muted' | 'archived') => changePreferences(me.id, (before) => ({ ...before, [list]: toggled(before[list], spaceId) }))
  const setLevel = (level: Notify) => {
    changePreferences(me.id, (before) => ({ ...before, notify: { ...before.notify, [spaceId]: level } }))
    if (level !== 'none') void allowNotifications()
  }
  return (
    <div ref={setBox} className="relative">
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild><IconButton label="Space options"><More /></IconButton></DropdownMenu.Trigger>
        <DropdownMenu.Portal container={box}>
          <DropdownMenu.Content align="end" sideOffset={4} className="z-30 min-w-56 animate-rise rounded-lg border border-line bg-paper-high p-1.5 text-small shadow-high">
            <DropdownMenu.Item className={ITEM} onSelect={() => toggle('pinned')}>{pinned.includes(spaceId) ? 'Unpin' : 'Pin to top'}</DropdownMenu.Item>
            <DropdownMenu.Item className={ITEM} onSelect={() => toggle('muted')}>{muted.includes(spaceId) ? 'Unmute' : 'Mute'}</DropdownMenu.Item>
            <DropdownMenu.Item className={ITEM} onSelect={() => toggle('archived')}>{archived.includes(spaceId) ? 'Move out of archive' : 'Archive'}</DropdownMenu.Item>
            <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
            <DropdownMenu.Label className="px-2.5 py-1 text-tiny text-ink-soft">Desktop notifications</DropdownMenu.Label>
            <DropdownMenu.RadioGroup value={notify[spaceId] ?? 'mentions'} onValueChange={(value) => setLevel(value as Notify)}>
              {Object.entries(LEVELS).map(([value, name]) => (
                <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                  {name}
                  <DropdownMenu.ItemIndicator className="ml-auto">✓</DropdownMenu.ItemIndicator>
                </DropdownMenu.RadioItem>
              ))}
            </DropdownMenu.RadioGroup>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </div>
  )
}
