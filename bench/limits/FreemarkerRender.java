import freemarker.template.Configuration;
import freemarker.template.Template;
import freemarker.template.TemplateExceptionHandler;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Renders one template with Apache FreeMarker on a warm JVM and prints renders a second.
 * Arguments: the template's file, seconds to warm up, seconds to measure.
 */
public class FreemarkerRender {
    public static void main(String[] args) throws Exception {
        Configuration configuration = new Configuration(Configuration.VERSION_2_3_31);
        configuration.setLocale(Locale.US);
        configuration.setNumberFormat("computer");
        configuration.setBooleanFormat("c");
        configuration.setTemplateExceptionHandler(TemplateExceptionHandler.RETHROW_HANDLER);
        String source = new String(Files.readAllBytes(Path.of(args[0])), StandardCharsets.UTF_8);
        Template template = new Template("bench", source, configuration);
        Map<String, Object> model = new HashMap<>();
        model.put("region", "EMEA");
        model.put("status", "open");
        model.put("limit", 100);
        model.put("since", "2026-01-01");
        model.put("by_day", true);
        run(template, model, Double.parseDouble(args[1]));
        System.out.println(run(template, model, Double.parseDouble(args[2])));
    }

    private static double run(Template template, Map<String, Object> model, double seconds) throws Exception {
        long start = System.nanoTime();
        long rendered = 0;
        long characters = 0;
        while (System.nanoTime() - start < seconds * 1e9) {
            for (int i = 0; i < 50; i++) {
                StringWriter out = new StringWriter(4096);
                template.process(model, out);
                characters += out.getBuffer().length();
            }
            rendered += 50;
        }
        if (characters == 0) throw new IllegalStateException("The template printed nothing.");
        return rendered / ((System.nanoTime() - start) / 1e9);
    }
}
