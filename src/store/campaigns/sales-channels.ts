import type { SalesChannel } from '../../domain/campaigns/sales-channel.ts'
import { type ListedStore, listedStore } from '../versioned/listed-records.ts'

/** Sales channels of multichannel fulfilment, in `warehouse.sales_channels`; changes are recorded as `sales_channel.…`. */
export const salesChannelStore: ListedStore<SalesChannel> = listedStore({
  name: 'sales_channels',
  personalData: {
    none: `seller_id order_channel_id order_channel_name box_catalog_type shipping_methods active partner_id partner_name mart_id created_date
      return_line1 return_line2 return_line3 return_city return_state return_country return_zip return_address_type missing_since raw_hash raw
      observed_at first_seen_at changed_at`,
  },
  resource: 'sales-channels',
  key: { column: 'order_channel_id', type: 'text' },
  columns: [
    'order_channel_name text',
    'box_catalog_type text',
    'shipping_methods text',
    'active boolean',
    'partner_id text',
    'partner_name text',
    'mart_id text',
    'created_date timestamptz',
    'return_line1 text',
    'return_line2 text',
    'return_line3 text',
    'return_city text',
    'return_state text',
    'return_country text',
    'return_zip text',
    'return_address_type text',
  ],
  row: (channel: SalesChannel) => ({
    order_channel_name: channel.orderChannelName,
    box_catalog_type: channel.boxCatalogType,
    shipping_methods: channel.shippingMethods,
    active: channel.active,
    partner_id: channel.partnerId,
    partner_name: channel.partnerName,
    mart_id: channel.martId,
    created_date: channel.createdDate,
    return_line1: channel.returnAddress?.line1,
    return_line2: channel.returnAddress?.line2,
    return_line3: channel.returnAddress?.line3,
    return_city: channel.returnAddress?.city,
    return_state: channel.returnAddress?.state,
    return_country: channel.returnAddress?.country,
    return_zip: channel.returnAddress?.zip,
    return_address_type: channel.returnAddress?.addressType,
  }),
  identity: {
    of: ({ orderChannelId }) => ({ orderChannelId }),
    sql: `jsonb_build_object('orderChannelId', order_channel_id)`,
  },
  state: {
    of: ({ orderChannelName, boxCatalogType, shippingMethods, active }) => ({
      orderChannelName,
      boxCatalogType,
      shippingMethods,
      active,
    }),
    sql: `jsonb_build_object('orderChannelName', order_channel_name, 'boxCatalogType', box_catalog_type,
      'shippingMethods', shipping_methods, 'active', active)`,
  },
  change: (what, data) => ({ type: `sales_channel.${what}`, data }),
  loaded: (data) => ({ type: 'sales_channel.loaded', data }),
})
