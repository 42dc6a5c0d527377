-- Channels of people to which alarms are sent, and what each of them was sent.
CREATE TABLE tallyman.alarm_channels (
  id            text           NOT NULL PRIMARY KEY,
  name          text           NOT NULL,
  kind          text           NOT NULL CHECK (kind IN ('slack', 'teams', 'email')),
  address       text           NOT NULL,
  target        text           NOT NULL,
  severities    text[]         NOT NULL,
  concerns      text[]         NOT NULL DEFAULT '{}',
  seller_ids    text[]         NOT NULL DEFAULT '{}',
  hours         jsonb,
  repeat_hours  integer        CHECK (repeat_hours > 0),
  state         text           NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
  failures      integer        NOT NULL DEFAULT 0,
  failing_since timestamptz(3),
  last_error    text,
  last_sent_at  timestamptz(3),
  next_at       timestamptz(3),
  lease_until   timestamptz(3),
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now()
);
COMMENT ON TABLE tallyman.alarm_channels IS 'Channels of people (Slack, Teams, e-mail) to which alarms are sent, with the rules of each.';
COMMENT ON COLUMN tallyman.alarm_channels.address IS 'The secret URL of an incoming webhook, or the recipients of e-mails, separated by commas. No list reads it.';
COMMENT ON COLUMN tallyman.alarm_channels.target IS 'The address as it is shown: the host of the URL, or the recipients.';
COMMENT ON COLUMN tallyman.alarm_channels.severities IS 'Severities of the alarms that it gets.';
COMMENT ON COLUMN tallyman.alarm_channels.concerns IS 'Audiences of the alarms that it gets; empty: all.';
COMMENT ON COLUMN tallyman.alarm_channels.seller_ids IS 'Sellers of the alarms that it gets; empty: all, and alarms of the daemon itself.';
COMMENT ON COLUMN tallyman.alarm_channels.hours IS 'When messages are sent: from, to, timeZone, weekdays; null: always.';
COMMENT ON COLUMN tallyman.alarm_channels.repeat_hours IS 'An alarm that stays open is repeated after this number of hours; null: never.';
COMMENT ON COLUMN tallyman.alarm_channels.failures IS 'Failed attempts since the last success.';
COMMENT ON COLUMN tallyman.alarm_channels.last_error IS 'A code, or a status; never text of the receiver.';
COMMENT ON COLUMN tallyman.alarm_channels.next_at IS 'After a failure: when the next attempt is due.';
COMMENT ON COLUMN tallyman.alarm_channels.lease_until IS 'A process is sending until then at the latest.';

CREATE TABLE tallyman.alarm_notices (
  channel_id text           NOT NULL REFERENCES tallyman.alarm_channels (id) ON DELETE CASCADE,
  alarm_id   bigint         NOT NULL REFERENCES tallyman.alarms (id) ON DELETE CASCADE,
  sent_at    timestamptz(3) NOT NULL,
  over_at    timestamptz(3),
  PRIMARY KEY (channel_id, alarm_id)
);
CREATE INDEX alarm_notices_of_alarm ON tallyman.alarm_notices (alarm_id);
CREATE INDEX alarm_notices_open ON tallyman.alarm_notices (channel_id, alarm_id) WHERE over_at IS NULL;
COMMENT ON TABLE tallyman.alarm_notices IS 'The alarms that a channel was sent.';
COMMENT ON COLUMN tallyman.alarm_notices.sent_at IS 'When it was sent last.';
COMMENT ON COLUMN tallyman.alarm_notices.over_at IS 'When the channel was sent that the alarm is over.';
