import { useMe, useStore } from '@majlis/client/react'
import { DropdownMenu } from 'radix-ui'
import { useState, type ReactNode } from 'react'

import type { Over } from '../../App.tsx'
import { msg, t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { chooseTheme, THEMES, useTheme, type Theme } from '../../theme.ts'
import { chooseWide, savedWide } from '../../wide.ts'
import { useInstall } from '../notifications/install.ts'
import { changePreferences, usePreferences, type Order } from './preferences.ts'

const ITEM = 'flex cursor-pointer items-center rounded-md px-2.5 py-1.5 outline-none data-[highlighted]:bg-hover'

const ORDERS: Record<Order, string> = { newest: msg('Newest message first'), name: msg('By name') }

/** The menu of the user, open at first. */
export default function AccountMenuList({ onOver, button, box }: { onOver: (over: Over) => void; button: ReactNode; box: HTMLElement | null }) {
  const me = useMe()!
  const store = useStore()
  const theme = useTheme()
  const [wide, setWide] = useState(savedWide)
  const install = useInstall()
  const { order } = usePreferences(me.id)
  const signOut = () => void store.client.signOut().finally(() => location.assign('/'))
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={box}>
        <DropdownMenu.Content side="top" align="start" sideOffset={6} className="z-30 min-w-60 animate-rise rounded-lg border border-line bg-paper-high p-1.5 text-small shadow-high">
          <DropdownMenu.Label className="px-2.5 py-1 text-tiny text-ink-soft">{t('Appearance')}</DropdownMenu.Label>
          <DropdownMenu.RadioGroup value={theme} onValueChange={(value) => chooseTheme(value as Theme)}>
            {Object.entries(THEMES).map(([value, name]) => (
              <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                {t(name)}
                <DropdownMenu.ItemIndicator className="ms-auto">✓</DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.CheckboxItem
            checked={wide}
            className={`${ITEM} mt-1 hidden border-t border-line md:flex`}
            onCheckedChange={(checked) => {
              setWide(checked)
              chooseWide(checked)
            }}
          >
            {t('Wide messages')}
            <DropdownMenu.ItemIndicator className="ms-auto">✓</DropdownMenu.ItemIndicator>
          </DropdownMenu.CheckboxItem>
          <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-tiny text-ink-soft">{t('Order of spaces')}</DropdownMenu.Label>
          <DropdownMenu.RadioGroup value={order} onValueChange={(value) => changePreferences(me.id, (before) => ({ ...before, order: value as Order }))}>
            {Object.entries(ORDERS).map(([value, name]) => (
              <DropdownMenu.RadioItem key={value} value={value} className={ITEM}>
                {t(name)}
                <DropdownMenu.ItemIndicator className="ms-auto">✓</DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator className="my-1.5 h-px bg-line" />
          <DropdownMenu.Item className={ITEM} onSelect={() => onOver('profile')}>{t('Your profile')}</DropdownMenu.Item>
          {me.role !== 'member' && <DropdownMenu.Item className={ITEM} onSelect={() => go('/admin/people')}>{t('Administration')}</DropdownMenu.Item>}
          {install && <DropdownMenu.Item className={ITEM} onSelect={install}>{t('Install app')}</DropdownMenu.Item>}
          <DropdownMenu.Item className={ITEM} onSelect={() => onOver('keys')}>{t('Keyboard shortcuts')}<span className="flex-1" /><kbd className="font-sans text-ink-soft">?</kbd></DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={signOut}>{t('Sign out')}</DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
