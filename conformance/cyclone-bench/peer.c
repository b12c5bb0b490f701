/*
 * A client of DDS by Eclipse Cyclone DDS alone, which the bench has beside weir's: `peer DOMAIN w|r|rw [TOPIC]`, with a
 * writer, a reader that listens to the topic, or both.
 *
 * It reads and writes the DDS topic weir/Observation reliable and volatile; a
 * message is a sample with its JSON as the result. Commands come on its input, answers go to its output; numbers are
 * in the machine's byte order. What it deliberately does not do: read the JSON. A message to and fro is passed here,
 * without the bench in between.
 *
 *   M                       -> m, once somebody else reads what it writes and writes what it reads
 *   W topic payload         publishes
 *   T interval start count topic payload...
 *                           publishes each at its time -> t first began..., the first being due start from now
 *   L                       -> D received payload for each message, until the next command
 *   E topic                 sends back what comes, until the next command
 *   P ms topic payload      -> p lost ns count rtt_ns..., messages to and fro
 *
 * with text as its length in 32 bits and its bytes, ms and count in 32 bits, rtt_ns in 32, all others in 64: nanoseconds,
 * and moments of the monotonic clock.
 */
#include <dds/dds.h>
#include <dds/version.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "Observation.h"

enum { HISTORY = 1000, LOOK_MS = 20, SILENCE_MS = 5000, RTTS_MAX = 1 << 24, TEXT_BYTES_MAX = 1 << 18, MESSAGES_MAX = 1 << 16 };

/* Those that it has are not 0. */
static dds_entity_t writer, reader, waitset;
static const char *subscribed;

static void fail(const char *what, dds_return_t code) {
  fprintf(stderr, "%s: %s\n", what, dds_strretcode(-code));
  exit(1);
}

static dds_entity_t made(const char *what, dds_entity_t entity) {
  if (entity < 0) fail(what, entity);
  return entity;
}

static uint64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static void in(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) exit(0);
}

static void out(const void *from, size_t bytes) {
  if (fwrite(from, 1, bytes, stdout) != bytes) exit(0);
}

static char *in_text(void) {
  uint32_t length;
  in(&length, sizeof length);
  if (length > TEXT_BYTES_MAX) fail("a text", DDS_RETCODE_OUT_OF_RESOURCES);
  char *text = malloc(length + 1);
  in(text, length);
  text[length] = 0;
  return text;
}

/* Whether a command waits. The bench sends none while another one that ends by itself is under way. */
static int is_told(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

static dds_qos_t *quality(void) {
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_ignorelocal(qos, DDS_IGNORELOCAL_PARTICIPANT);
  return qos;
}

/* What RustDDS reads: plain XCDR version 1. */
static dds_qos_t *plain(dds_qos_t *qos) {
  dds_data_representation_id_t one[] = {DDS_DATA_REPRESENTATION_XCDR1};
  dds_qset_data_representation(qos, 1, one);
  return qos;
}

static void open_writer(dds_entity_t participant, dds_entity_t topic) {
  dds_qos_t *offered = plain(quality());
  dds_qset_durability(offered, DDS_DURABILITY_VOLATILE);
  dds_qset_history(offered, DDS_HISTORY_KEEP_LAST, HISTORY);
  writer = made("writer", dds_create_writer(participant, topic, offered, NULL));
}

static void open_reader(dds_entity_t participant, dds_entity_t topic) {
  dds_qos_t *requested = plain(quality());
  dds_qset_history(requested, DDS_HISTORY_KEEP_ALL, 0);
  reader = made("reader", dds_create_reader(participant, topic, requested, NULL));
  dds_entity_t arrived = made("condition", dds_create_readcondition(reader, DDS_ANY_STATE));
  waitset = made("waitset", dds_create_waitset(participant));
  dds_waitset_attach(waitset, arrived, 0);
}

static void open_domain(dds_domainid_t domain, const char *part) {
  dds_entity_t participant = made("participant", dds_create_participant(domain, NULL, NULL));
  dds_entity_t topic =
      made("topic", dds_create_topic(participant, &weir_Observation_desc, "weir/Observation", NULL, NULL));
  if (strchr(part, 'w')) open_writer(participant, topic);
  if (strchr(part, 'r')) open_reader(participant, topic);
}

static void write_message(char *topic, char *payload) {
  weir_Observation sample = {.topic = topic, .sensor = "", .type = "", .unit = "", .quality = "", .feature = "",
                             .parameters = "", .cursor = "", .gap = ""};
  sample.value._d = weir_JSON;
  sample.value._u.json = payload;
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  sample.time = (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
  dds_return_t code = dds_write(writer, &sample);
  if (code < 0) fail("write", code);
}

/* Waits for samples and shows the JSON of those that are subscribed to; how many they were. */
static int arrivals(int wait_ms, void (*show)(char *payload, void *with), void *with) {
  dds_attach_t triggered;
  if (dds_waitset_wait(waitset, &triggered, 1, DDS_MSECS(wait_ms)) <= 0) return 0;
  void *samples[16] = {NULL};
  dds_sample_info_t infos[16];
  int count = dds_take(reader, samples, infos, 16, 16), shown = 0;
  for (int index = 0; index < count; index++) {
    weir_Observation *sample = samples[index];
    if (!infos[index].valid_data || sample->value._d != weir_JSON || strcmp(sample->topic, subscribed) != 0) continue;
    show(sample->value._u.json, with);
    shown++;
  }
  if (count > 0) dds_return_loan(reader, samples, count);
  return shown;
}

static int is_met(void) {
  dds_instance_handle_t others[4];
  return (!writer || dds_get_matched_subscriptions(writer, others, 4) > 0) &&
         (!reader || dds_get_matched_publications(reader, others, 4) > 0);
}

static void await_others(void) {
  while (!is_met()) dds_sleepfor(DDS_MSECS(LOOK_MS));
  out("m", 1);
  fflush(stdout);
}

static void hand_on(char *payload, void *with) {
  (void)with;
  uint64_t received = now_ns();
  uint32_t length = (uint32_t)strlen(payload);
  out("D", 1);
  out(&received, sizeof received);
  out(&length, sizeof length);
  out(payload, length);
  fflush(stdout);
}

static void send_back(char *payload, void *topic) { write_message(topic, payload); }

static void count(char *payload, void *with) {
  (void)payload;
  (void)with;
}

static void to_and_fro(uint32_t for_ms, char *topic, char *payload) {
  static uint32_t rtts[RTTS_MAX];
  uint64_t begin = now_ns(), now = begin, lost = 0;
  uint32_t passed = 0;
  while (now - begin < (uint64_t)for_ms * 1000000u && passed < RTTS_MAX) {
    write_message(topic, payload);
    /* A sample of nobody's interest wakes as well. */
    uint64_t latest = now_ns() + SILENCE_MS * UINT64_C(1000000);
    int came = 0;
    while (!came && now_ns() < latest) came = arrivals(SILENCE_MS, count, NULL);
    uint64_t before = now;
    now = now_ns();
    if (came) rtts[passed++] = (uint32_t)(now - before);
    else lost++;
  }
  uint64_t took = now - begin;
  out("p", 1);
  out(&lost, sizeof lost);
  out(&took, sizeof took);
  out(&passed, sizeof passed);
  out(rtts, passed * sizeof rtts[0]);
  fflush(stdout);
}

static void sleep_until(uint64_t due) {
  struct timespec at = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
  }
}

static void publish_all(uint64_t interval, uint64_t start, uint32_t count_of) {
  if (count_of > MESSAGES_MAX) fail("messages", DDS_RETCODE_OUT_OF_RESOURCES);
  char *topic = in_text();
  char **payloads = calloc(count_of, sizeof *payloads);
  uint64_t *began = calloc(count_of, sizeof *began);
  for (uint32_t index = 0; index < count_of; index++) payloads[index] = in_text();
  uint64_t first = now_ns() + start;
  for (uint32_t index = 0; index < count_of; index++) {
    sleep_until(first + index * interval);
    began[index] = now_ns();
    write_message(topic, payloads[index]);
    free(payloads[index]);
  }
  out("t", 1);
  out(&first, sizeof first);
  out(began, count_of * sizeof *began);
  fflush(stdout);
  free(began);
  free(payloads);
  free(topic);
}

static void obey(char command) {
  if (command == 'M') {
    await_others();
  } else if (command == 'L') {
    while (!is_told()) arrivals(LOOK_MS, hand_on, NULL);
  } else if (command == 'E') {
    char *topic = in_text();
    while (!is_told()) arrivals(LOOK_MS, send_back, topic);
    free(topic);
  } else if (command == 'W') {
    char *topic = in_text(), *payload = in_text();
    write_message(topic, payload);
    free(topic);
    free(payload);
  } else if (command == 'T') {
    uint64_t interval, start;
    uint32_t count_of;
    in(&interval, sizeof interval);
    in(&start, sizeof start);
    in(&count_of, sizeof count_of);
    publish_all(interval, start, count_of);
  } else if (command == 'P') {
    uint32_t for_ms;
    in(&for_ms, sizeof for_ms);
    char *topic = in_text(), *payload = in_text();
    to_and_fro(for_ms, topic, payload);
    free(topic);
    free(payload);
  }
}

int main(int count_of, char **arguments) {
  if (count_of == 2 && strcmp(arguments[1], "--version") == 0) {
    puts("Cyclone DDS " DDS_VERSION);
    return 0;
  }
  if (count_of < 3 || count_of > 4) return 2;
  subscribed = count_of == 4 ? arguments[3] : "";
  /* What was read ahead would not be seen by poll. */
  setvbuf(stdin, NULL, _IONBF, 0);
  open_domain((dds_domainid_t)atoi(arguments[1]), arguments[2]);
  for (;;) {
    char command;
    in(&command, 1);
    obey(command);
  }
}
