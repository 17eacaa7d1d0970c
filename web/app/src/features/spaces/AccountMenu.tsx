import { useMe, useStore } from '@majlis/client/react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'

import type { Over } from '../../App.tsx'
import { go } from '../../router.ts'
import { chooseTheme, savedTheme, THEMES, type Theme } from '../../theme.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { More } from '../../ui/icons.tsx'
import { useInstall } from '../notifications/install.ts'
import { changePreferences, usePreferences, type Order } from './preferences.ts'

const ITEM = 'flex cursor-pointer items-center rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'

const ORDERS: Record<Order, string> = { newest: 'Newest message first', name: 'By name' }

export function AccountMenu({ onOver }: { onOver: (over: Over) => void }) {
  const me = useMe()!
  const store = useStore()
  const [theme, setTheme] = useState(savedTheme)
  const install = useInstall()
  const { order } = usePreferences(me.id)
  // The menu is rendered inside the sidebar, so that it belongs to a landmark.
  const [footer, setFooter] = useState<HTMLElement | null>(null)
  const signOut = () => void store.client.signOut().finally(() => location.assign('/'))
  return (
    <footer ref={setFooter} className="border-t border-line p-2">
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger className="flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-left hover:bg-hover">
          <Avatar id={me.id} name={me.name} type={me.type} size="small" />
          <bdi className="min-w-0 flex-1 truncate text-left font-medium">{me.name}</bdi>
          <More className="size-5 text-ink-soft" />
          <span className="unseen">, account menu</span>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal container={footer}>
          <DropdownMenu.Content side="top" align="start" sideOffset={6} className="z-30 min-w-60 animate-rise rounded-lg border border-line bg-paper-high p-1.5 text-small shadow-high">
            <DropdownMenu.Label className="px-2.5 py-1 text-tiny text-ink-soft">Appearance</DropdownMenu.Label>
            <DropdownMenu.RadioGroup
              value={theme}
              onValueChange={(value) => {
                setTheme(value as Theme)
                chooseTheme(value as Theme)
              }}
            >
              {Object.entries(THEMES).map(([value, name]) => (
                <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                  {name}
                  <DropdownMenu.ItemIndicator className="ml-auto">✓</DropdownMenu.ItemIndicator>
                </DropdownMenu.RadioItem>
              ))}
            </DropdownMenu.RadioGroup>
            <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-tiny text-ink-soft">Order of spaces</DropdownMenu.Label>
            <DropdownMenu.RadioGroup value={order} onValueChange={(value) => changePreferences(me.id, (before) => ({ ...before, order: value as Order }))}>
              {Object.entries(ORDERS).map(([value, name]) => (
                <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                  {name}
                  <DropdownMenu.ItemIndicator className="ml-auto">✓</DropdownMenu.ItemIndicator>
                </DropdownMenu.RadioItem>
              ))}
            </DropdownMenu.RadioGroup>
            <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
            <DropdownMenu.Item className={ITEM} onSelect={() => onOver('profile')}>Your profile</DropdownMenu.Item>
            {me.role !== 'member' && <DropdownMenu.Item className={ITEM} onSelect={() => go('/admin/people')}>Administration</DropdownMenu.Item>}
            {install && <DropdownMenu.Item className={ITEM} onSelect={install}>Install app</DropdownMenu.Item>}
            <DropdownMenu.Item className={ITEM} onSelect={() => onOver('keys')}>Keyboard shortcuts <kbd className="ml-auto font-sans text-ink-soft">?</kbd></DropdownMenu.Item>
            <DropdownMenu.Item className={ITEM} onSelect={signOut}>Sign out</DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </footer>
  )
}
